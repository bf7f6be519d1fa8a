-- Appends an entry to a journal, once for each key.
--
-- KEYS  entries: hash of "<attempt> <instance> <value>" by key; instance is * if
--         nobody has claimed the entry
--       due: the keys of the entries, scored with when they may be claimed, Unix µs
--       done: the keys of acknowledged entries, scored with when that was, Unix µs
-- ARGV  key: tells the entry from all others
--       value: JSON
--
-- Returns 1, or 0 if there is or was an entry of that key.

local entries, due, done = KEYS[1], KEYS[2], KEYS[3]
local key, value = ARGV[1], ARGV[2]

if redis.call('ZSCORE', done, key) or redis.call('HEXISTS', entries, key) == 1 then
  return 0
end
local time = redis.call('TIME')
redis.call('ZADD', due, string.format('%.0f', time[1] * 1000000 + time[2]), key)
redis.call('HSET', entries, key, '0 * ' .. value)
return 1

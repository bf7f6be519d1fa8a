-- Ends an entry of a journal, for who claimed it last. Its key is remembered.
--
-- KEYS  entries: hash of "<attempt> <instance> <value>" by key
--       due: the keys of the entries, scored with when they may be claimed, Unix µs
--       claims: "<instance> <key>" of those that are claimed, all scored 0
--       done: the keys of acknowledged entries, scored with when that was, Unix µs
-- ARGV  key, attempt, instance: the claim
--
-- Returns 1, or 0 if the claim holds no more.

local entries, due, claims, done = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local key, attempt, instance = ARGV[1], ARGV[2], ARGV[3]

local claim = attempt .. ' ' .. instance .. ' '
if string.sub(redis.call('HGET', entries, key) or '', 1, #claim) ~= claim then
  return 0
end
local time = redis.call('TIME')
redis.call('ZADD', done, string.format('%.0f', time[1] * 1000000 + time[2]), key)
redis.call('ZREM', due, key)
redis.call('ZREM', claims, instance .. ' ' .. key)
redis.call('HDEL', entries, key)
return 1

-- Lets an entry of a journal be claimed again, after a while, for who claimed it
-- last.
--
-- KEYS  entries: hash of "<attempt> <instance> <value>" by key; instance is * if
--         nobody has claimed the entry
--       due: the keys of the entries, scored with when they may be claimed, Unix µs
--       claims: "<instance> <key>" of those that are claimed, all scored 0
-- ARGV  key, attempt, instance: the claim
--       after: µs
--
-- Returns 1, or 0 if the claim holds no more.

local entries, due, claims = KEYS[1], KEYS[2], KEYS[3]
local key, attempt, instance, after = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

local claim = attempt .. ' ' .. instance .. ' '
local entry = redis.call('HGET', entries, key) or ''
if string.sub(entry, 1, #claim) ~= claim then
  return 0
end
local time = redis.call('TIME')
redis.call('HSET', entries, key, attempt .. ' * ' .. string.sub(entry, #claim + 1))
redis.call('ZADD', due, string.format('%.0f', time[1] * 1000000 + time[2] + after), key)
redis.call('ZREM', claims, instance .. ' ' .. key)
return 1

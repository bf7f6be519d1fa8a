-- Gives a claimed entry of a journal another lease, for who claimed it last.
--
-- KEYS  entries: hash of "<attempt> <instance> <value>" by key
--       due: the keys of the entries, scored with when they may be claimed, Unix µs
-- ARGV  key, attempt, instance: the claim
--       lease: µs from now
--
-- Returns 1, or 0 if the claim holds no more.

local entries, due = KEYS[1], KEYS[2]
local key, attempt, instance, lease = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

local claim = attempt .. ' ' .. instance .. ' '
if string.sub(redis.call('HGET', entries, key) or '', 1, #claim) ~= claim then
  return 0
end
local time = redis.call('TIME')
redis.call('ZADD', due, string.format('%.0f', time[1] * 1000000 + time[2] + lease), key)
return 1

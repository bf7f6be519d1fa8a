-- Forgets keys of acknowledged entries.
--
-- KEYS  done: the keys of acknowledged entries, scored with when that was, Unix µs
-- ARGV  age: µs since then, at least
--       limit: how many at most
--
-- Returns how many were forgotten.

local done = KEYS[1]
local age, limit = tonumber(ARGV[1]), tonumber(ARGV[2])

local time = redis.call('TIME')
local before = string.format('%.0f', time[1] * 1000000 + time[2] - age)
local count = math.min(redis.call('ZCOUNT', done, '-inf', before), limit)
if count == 0 then
  return 0
end
return redis.call('ZREMRANGEBYRANK', done, 0, count - 1)

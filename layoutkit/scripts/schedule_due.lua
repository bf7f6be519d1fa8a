-- Lists the schedules of a bucket that are due, the longest due first.
--
-- KEYS  index: scored with due, Unix ms
-- ARGV  limit: how many at most
--
-- Returns the server's time, Unix ms, and the ids.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = string.format('%.0f', now)
return {now, redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', due, 'LIMIT', 0, ARGV[1])}

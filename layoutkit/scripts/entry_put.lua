-- Writes an entry of a user.
--
-- KEYS  entry, and the user's index, if there is one
-- ARGV  member: the entry's name in the index
--       value: JSON
--       ttl: ms, 0 for ever
--
-- The index scores the entry with the time at which it expires, Unix ms of this
-- server, +inf for never.
--
-- Returns OK.

local entry, index = KEYS[1], KEYS[2]
local member, value, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3])

local expires = '+inf'
if ttl > 0 then
  local now = redis.call('TIME')
  expires = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000) + ttl)
  redis.call('SET', entry, value, 'PXAT', expires)
else
  redis.call('SET', entry, value)
end
if index then
  redis.call('ZADD', index, expires, member)
end
return redis.status_reply('OK')

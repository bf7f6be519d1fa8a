-- Copies a record, or a user's entry, unless it is there.
--
-- KEYS  record, and the index that lists it, if there is one
-- ARGV  id: the record's name in the index
--       value: what to write, as it was
--       ttl: ms it has left, 0 for ever
--       overwrite: 1 to write it although it is there, else 0
--
-- The index scores it with the time at which it expires, Unix ms of this server,
-- +inf for never.
--
-- Returns 1 if it was written, 0 if what is there was kept.

local record, index = KEYS[1], KEYS[2]
local id, value, ttl, overwrite = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]

if overwrite ~= '1' and redis.call('EXISTS', record) == 1 then
  return 0
end
local expires = '+inf'
if ttl > 0 then
  local now = redis.call('TIME')
  expires = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000) + ttl)
end
if index then
  redis.call('ZADD', index, expires, id)
end
if ttl > 0 then
  redis.call('SET', record, value, 'PXAT', expires)
else
  redis.call('SET', record, value)
end
return 1

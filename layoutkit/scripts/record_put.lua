-- Writes a record: its version becomes one greater.
--
-- KEYS  record, and the index that lists it, if there is one
-- ARGV  id: the record's name in the index
--       expected: the version that must be there, 0 for none; empty for any
--       value: JSON
--       ttl: ms, 0 for ever
--
-- The record is "<version> <value>". The index scores it with the time at which
-- it expires, Unix ms of this server, +inf for never.
--
-- Returns {1, the new version}, or {0, the version that is there}.

local record, index = KEYS[1], KEYS[2]
local id, expected, value, ttl = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

local version = 0
local present = redis.call('GET', record)
if present then
  version = tonumber(string.match(present, '^(%d+) '))
  if not version then
    return redis.error_reply('CORRUPT ' .. record .. ' does not begin with a version')
  end
end
if expected ~= '' and tonumber(expected) ~= version then
  return {0, version}
end

version = version + 1
local written = string.format('%d ', version) .. value
local expires = '+inf'
if ttl > 0 then
  local now = redis.call('TIME')
  expires = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000) + ttl)
  redis.call('SET', record, written, 'PXAT', expires)
else
  redis.call('SET', record, written)
end
if index then
  redis.call('ZADD', index, expires, id)
end
return {1, version}

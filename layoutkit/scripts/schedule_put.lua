-- Writes a schedule. Its token becomes one greater if there was one before, so
-- that who claimed that cannot complete this.
--
-- KEYS  record, and the index that lists it, if there is one
-- ARGV  id: the record's name in the index
--       due: Unix ms
--       value: JSON
--
-- The record is "<token> <due> <value>", or "<token> -" once deleted. The index
-- scores it with due, +inf once deleted.
--
-- Returns the token.

local record, index = KEYS[1], KEYS[2]
local id, due, value = ARGV[1], ARGV[2], ARGV[3]

local token = 0
local present = redis.call('GET', record)
if present then
  token = tonumber(string.match(present, '^(%d+) '))
  if not token then
    return redis.error_reply('CORRUPT ' .. record .. ' does not begin with a token')
  end
  token = token + 1
end
if index then
  redis.call('ZADD', index, due, id)
end
redis.call('SET', record, string.format('%.0f ', token) .. due .. ' ' .. value)
return token

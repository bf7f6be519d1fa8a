-- Claims a schedule that is due: its token becomes one greater, and it is due
-- again when the lease is over.
--
-- KEYS  record: "<token> <due> <value>", or "<token> -" once deleted
--       the index that lists it, if there is one, scored with due
-- ARGV  id: the record's name in the index
--       lease: ms
--
-- Returns {1, token, due before, due now, value} if it was claimed, {2, due} if it
-- is not due, {0} if there is none.

local record, index = KEYS[1], KEYS[2]
local id, lease = ARGV[1], ARGV[2]

local present = redis.call('GET', record)
if not present then
  return {0}
end
local token, due, at = string.match(present, '^(%d+) ([%d-]+) ?()')
if not token then
  return redis.error_reply('CORRUPT ' .. record .. ' does not begin with a token and a time')
end
if due == '-' then
  return {0}
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(due) > now then
  return {2, tonumber(due)}
end

token = string.format('%.0f', token + 1)
local again = string.format('%.0f', now + lease)
local value = string.sub(present, at)
if index then
  redis.call('ZADD', index, again, id)
end
redis.call('SET', record, token .. ' ' .. again .. ' ' .. value)
return {1, tonumber(token), tonumber(due), tonumber(again), value}

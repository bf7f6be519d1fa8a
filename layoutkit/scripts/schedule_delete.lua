-- Deletes a schedule, whoever has claimed it. A tombstone keeps its token.
--
-- KEYS  record: "<token> <due> <value>", or "<token> -" once deleted
--       the index that lists it, if there is one; a tombstone's score is +inf
-- ARGV  id: the record's name in the index
--
-- Returns 1 if it was there, else 0.

local record, index = KEYS[1], KEYS[2]
local id = ARGV[1]

local present = redis.call('GET', record)
if not present then
  return 0
end
local token, due = string.match(present, '^(%d+) ([%d-]+)')
if not token then
  return redis.error_reply('CORRUPT ' .. record .. ' does not begin with a token and a time')
end
if due == '-' then
  return 0
end
if index then
  redis.call('ZADD', index, '+inf', id)
end
redis.call('SET', record, token .. ' -')
return 1

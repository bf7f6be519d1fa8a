-- Ends a schedule, for who claimed it last. A tombstone keeps its token.
--
-- KEYS  record: "<token> <due> <value>", or "<token> -" once deleted
--       the index that lists it, if there is one; a tombstone's score is +inf
-- ARGV  id: the record's name in the index
--       token: of the claim
--
-- Returns 1, also if that claim completed it before or it was deleted since; 0 if
-- it was claimed or written since.

local record, index = KEYS[1], KEYS[2]
local id, token = ARGV[1], ARGV[2]

local present = redis.call('GET', record)
if not present or string.match(present, '^(%d+) ') ~= token then
  return 0
end
if index then
  redis.call('ZADD', index, '+inf', id)
end
redis.call('SET', record, token .. ' -')
return 1

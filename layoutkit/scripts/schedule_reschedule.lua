-- Gives a schedule another time, for who claimed it last.
--
-- KEYS  record: "<token> <due> <value>", or "<token> -" once deleted
--       the index that lists it, if there is one, scored with due
-- ARGV  id: the record's name in the index
--       token: of the claim
--       due: Unix ms
--
-- Returns 1, or 0 if it was claimed, written or deleted since.

local record, index = KEYS[1], KEYS[2]
local id, token, due = ARGV[1], ARGV[2], ARGV[3]

local present = redis.call('GET', record)
if not present then
  return 0
end
local number, at = string.match(present, '^(%d+) %d+ ()')
if number ~= token then
  return 0
end
if index then
  redis.call('ZADD', index, due, id)
end
redis.call('SET', record, token .. ' ' .. due .. ' ' .. string.sub(present, at))
return 1

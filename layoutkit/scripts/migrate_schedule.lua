-- Copies a schedule, or the tombstone of one. Its token never goes back: one with a
-- greater token is written whatever is there, and one that overwrites a greater
-- token takes that over.
--
-- KEYS  record: "<token> <due> <value>", or "<token> -" once deleted
--       the index that lists it, if there is one
-- ARGV  id: the record's name in the index
--       token
--       rest: what follows the token and a space
--       score: due for the index, +inf of a tombstone
--       overwrite: 1 to write it although it is there, else 0
--
-- Returns 1 if it was written, 0 if what is there was kept.

local record, index = KEYS[1], KEYS[2]
local id, token, rest, score, overwrite = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

-- Decimals are compared as text: numbers of Lua are exact to 2^53 only.
local function greater(a, b)
  return #a > #b or #a == #b and a > b
end

local present = redis.call('GET', record)
if present then
  local there = string.match(present, '^(%d+) ')
  if not there then
    return redis.error_reply('CORRUPT ' .. record .. ' does not begin with a token')
  end
  there = string.gsub(there, '^0+(%d)', '%1')
  if not greater(token, there) then
    if overwrite ~= '1' then
      return 0
    end
    token = there
  end
end
if index then
  redis.call('ZADD', index, score, id)
end
redis.call('SET', record, token .. ' ' .. rest)
return 1

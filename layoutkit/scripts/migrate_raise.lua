-- Raises a fence or a term. It never goes back.
--
-- KEYS  counter
-- ARGV  value: a decimal without sign and leading zeros
--
-- Returns 1 if it was raised, 0 if it was as great before.

local counter = KEYS[1]
local value = ARGV[1]

-- Decimals are compared as text: numbers of Lua are exact to 2^53 only.
local function greater(a, b)
  return #a > #b or #a == #b and a > b
end

local present = redis.call('GET', counter)
if present then
  if not string.match(present, '^%d+$') then
    return redis.error_reply('CORRUPT ' .. counter .. ' is no number')
  end
  if not greater(value, (string.gsub(present, '^0+(%d)', '%1'))) then
    return 0
  end
end
redis.call('SET', counter, value)
return 1

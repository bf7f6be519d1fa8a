-- Gives back a lock or a leadership that an attempt may have acquired without
-- hearing of it.
--
-- KEYS  held: "<count> <holder>"
-- ARGV  holder: the name of the attempt
--
-- Returns 1 if the attempt held it, else 0.

local whose = string.match(redis.call('GET', KEYS[1]) or '', '^%d+ (.+)$')
if whose ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])

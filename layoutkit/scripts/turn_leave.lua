-- Gives back a ticket, and its turn if it was owned without its owner hearing of
-- it.
--
-- KEYS  tix: the waiting tickets, scored with their numbers
--       owner: "<number> <ticket>" of the turn that runs
-- ARGV  ticket
--
-- Returns 1 if the turn was owned, else 0.

local tix, owner = KEYS[1], KEYS[2]
local ticket = ARGV[1]

redis.call('ZREM', tix, ticket)
local whose = string.match(redis.call('GET', owner) or '', '^%d+ (.+)$')
if whose ~= ticket then
  return 0
end
return redis.call('DEL', owner)

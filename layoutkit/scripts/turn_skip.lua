-- Skips the ticket of a dead replica, if it still is the one that is called.
--
-- KEYS  tix: the waiting tickets, scored with their numbers
--       owner: the turn that runs
-- ARGV  ticket: whose replica has no heartbeat
--
-- A turn that runs is never ended by this: it ends by itself, or expires.
--
-- Returns 1 if the ticket was skipped, else 0.

local tix, owner = KEYS[1], KEYS[2]
local ticket = ARGV[1]

if redis.call('EXISTS', owner) == 1 or redis.call('ZRANGE', tix, 0, 0)[1] ~= ticket then
  return 0
end
return redis.call('ZREM', tix, ticket)

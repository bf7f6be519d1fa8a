-- Renews what the caller holds: a lock, turn, leadership or lease.
--
-- KEYS  held
-- ARGV  value: what is there if the caller holds it
--       ttl: ms
--
-- Returns 1, or 0 if it is not the caller's any more.

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])

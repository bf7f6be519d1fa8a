-- Releases what the caller holds: a lock, leadership, lease or heartbeat.
--
-- KEYS  held
-- ARGV  value: what is there if the caller holds it
--
-- Returns 1, or 0 if it is not the caller's any more.

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])

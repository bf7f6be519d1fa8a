-- Acquires a lease that nobody else holds; its holder acquires it again.
--
-- KEYS  lease: its holder; expires unless renewed
-- ARGV  holder
--       ttl: ms
--
-- Returns {1, holder}, or {0, who holds it}.

local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return {0, holder}
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, ARGV[1]}

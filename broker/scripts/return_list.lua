-- Moves the entry ARGV[1] from the delay queue KEYS[1] to the queue KEYS[2].
-- Run again it does nothing.
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('LPUSH', KEYS[2], ARGV[1])
return 1

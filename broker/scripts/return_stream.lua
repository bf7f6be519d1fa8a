-- Moves the entry ARGV[1] from the delay queue KEYS[1] to the stream KEYS[2], as the
-- fields from ARGV[2] on. Run again it does nothing.
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 2))
return 1

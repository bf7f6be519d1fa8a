-- Removes the consumer ARGV[2] of the group ARGV[1] of the stream KEYS[1] if nothing
-- is pending for it: what is pending for a consumer is lost with it.
if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) > 0 then return 0 end
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
return 1

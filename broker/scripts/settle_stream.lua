-- Acknowledges the entry ARGV[2] of the stream KEYS[1] for the group ARGV[1], and, if
-- it was pending, does with its successor what ARGV[3] says to KEYS[2]: "append" the
-- fields from ARGV[5] on to a stream, or "delay" the text ARGV[5] for ARGV[4] ms in a
-- sorted set. Run again it does nothing.
if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
if ARGV[3] == 'append' then
	redis.call('XADD', KEYS[2], '*', unpack(ARGV, 5))
elseif ARGV[3] == 'delay' then
	local now = redis.call('TIME')
	redis.call('ZADD', KEYS[2], now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[4], ARGV[5])
end
return 1

-- Takes the entry ARGV[1] out of the processing list KEYS[1], and, if it was there,
-- does with its successor ARGV[3] what ARGV[2] says to KEYS[2]: "append" to a list, put
-- it in "front" of a queue, "delay" it for ARGV[4] ms in a sorted set, or "forget" it.
-- The claim of the entry in the last of KEYS goes, if ARGV[5] says there are claims.
-- Run again it does nothing.
local removed = redis.call('LREM', KEYS[1], 1, ARGV[1])
if ARGV[5] == '1' then redis.call('ZREM', KEYS[#KEYS], ARGV[1]) end
if removed == 0 then return 0 end
if ARGV[2] == 'append' then
	redis.call('LPUSH', KEYS[2], ARGV[3])
elseif ARGV[2] == 'front' then
	redis.call('RPUSH', KEYS[2], ARGV[3])
elseif ARGV[2] == 'delay' then
	local now = redis.call('TIME')
	redis.call('ZADD', KEYS[2], now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[4], ARGV[3])
end
return 1

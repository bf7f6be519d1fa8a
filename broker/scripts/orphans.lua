-- Returns up to ARGV[2] entries of the processing list KEYS[1] whose claim in KEYS[2]
-- is at least ARGV[1] ms old. Entries without a claim, whose consumer died before it
-- wrote one, get one; claims without an entry go.
local now = redis.call('TIME')
local ms = now[1] * 1000 + math.floor(now[2] / 1000)
for _, entry in ipairs(redis.call('LRANGE', KEYS[1], -ARGV[2], -1)) do
	redis.call('ZADD', KEYS[2], 'NX', ms, entry)
end
local orphans = {}
for _, entry in ipairs(redis.call('ZRANGE', KEYS[2], '-inf', ms - ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[2])) do
	if redis.call('LPOS', KEYS[1], entry) then
		orphans[#orphans + 1] = entry
	else
		redis.call('ZREM', KEYS[2], entry)
	end
end
return orphans

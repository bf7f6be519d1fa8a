-- Moves up to ARGV[1] entries from the queue KEYS[1] to the processing list KEYS[2]
-- and notes in the claims KEYS[3] when.
local now = redis.call('TIME')
local ms = now[1] * 1000 + math.floor(now[2] / 1000)
local taken = {}
for i = 1, tonumber(ARGV[1]) do
	local entry = redis.call('LMOVE', KEYS[1], KEYS[2], 'RIGHT', 'LEFT')
	if not entry then break end
	redis.call('ZADD', KEYS[3], ms, entry)
	taken[i] = entry
end
return taken

-- Returns up to ARGV[1] entries of the delay queue KEYS[1] whose time has come.
local now = redis.call('TIME')
local ms = now[1] * 1000 + math.floor(now[2] / 1000)
return redis.call('ZRANGE', KEYS[1], '-inf', ms, 'BYSCORE', 'LIMIT', 0, ARGV[1])

-- Puts ARGV[1] into the delay queue KEYS[1] for ARGV[2] ms.
local now = redis.call('TIME')
return redis.call('ZADD', KEYS[1], now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[2], ARGV[1])

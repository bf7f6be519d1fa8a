-- Notes in the claims KEYS[1] when the entry ARGV[1] was taken.
local now = redis.call('TIME')
return redis.call('ZADD', KEYS[1], now[1] * 1000 + math.floor(now[2] / 1000), ARGV[1])

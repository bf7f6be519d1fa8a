-- Acquires a lock or a leadership that nobody holds.
--
-- KEYS  held: "<count> <holder>"; expires unless renewed
--       count: how often it was acquired: the fence of a lock, the term of a leader
-- ARGV  holder: names this attempt, so that asking again is harmless
--       ttl: ms
--
-- Returns {1, count}, or {0, ms until what is held expires}.

local held, count = KEYS[1], KEYS[2]
local holder, ttl = ARGV[1], ARGV[2]

local present = redis.call('GET', held)
if present then
  local number, whose = string.match(present, '^(%d+) (.+)$')
  if whose ~= holder then
    return {0, redis.call('PTTL', held)}
  end
  redis.call('PEXPIRE', held, ttl)
  return {1, tonumber(number)}
end
local number = redis.call('INCR', count)
redis.call('SET', held, string.format('%.0f ', number) .. holder, 'PX', ttl)
return {1, number}

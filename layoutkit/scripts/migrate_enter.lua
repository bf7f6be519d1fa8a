-- Enters a migration among those that are under way, or says that it still is.
--
-- KEYS  passes: those under way, "<mode> <id>", scored with how long they are
--       believed in, Unix ms
-- ARGV  mode: the direction of a pass that copies, or 'delete'
--       id: of this one
--       ttl: ms
--
-- Passes of one mode may run at once, but for 'delete', which is alone.
--
-- Returns '', or the mode of a pass that must end first.

local passes = KEYS[1]
local mode, id, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', passes, '-inf', string.format('%.0f', now))

for _, pass in ipairs(redis.call('ZRANGE', passes, 0, -1)) do
  local its_mode, its_id = string.match(pass, '^(%S+) (%S+)$')
  if its_id == id then
    if its_mode ~= mode then
      redis.call('ZREM', passes, pass)
    end
  elseif its_mode ~= mode or mode == 'delete' then
    return its_mode
  end
end
redis.call('ZADD', passes, string.format('%.0f', now + ttl), mode .. ' ' .. id)
redis.call('PEXPIRE', passes, ttl)
return ''

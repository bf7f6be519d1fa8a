-- Lists an index whose scores are the times at which its members expire, and
-- takes out what has expired.
--
-- KEYS  index
-- ARGV  prefix: what the members to list begin with, empty for all
--
-- A key is there until the millisecond in its expiry is over, and so is its
-- member.
--
-- Returns the members.

local index = KEYS[1]
local prefix = ARGV[1]

local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
if redis.call('ZCOUNT', index, '-inf', '(' .. now) > 0 then
  redis.call('ZREMRANGEBYSCORE', index, '-inf', '(' .. now)
end

local members = redis.call('ZRANGE', index, 0, -1)
if prefix == '' then
  return members
end
local chosen = {}
for _, member in ipairs(members) do
  if string.sub(member, 1, #prefix) == prefix then
    chosen[#chosen + 1] = member
  end
end
return chosen

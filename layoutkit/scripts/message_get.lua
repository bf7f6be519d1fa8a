-- Reads a message of a chat.
--
-- KEYS  log, item
-- ARGV  member
--
-- Returns {score, message}, or nothing if either is not there.

local log, item = KEYS[1], KEYS[2]
local member = ARGV[1]

local score = redis.call('ZSCORE', log, member)
local message = redis.call('GET', item)
if not score or not message then
  return {}
end
return {score, message}

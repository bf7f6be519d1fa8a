-- Saves a message of a chat, unless its member is in the log already.
--
-- KEYS  log, item
-- ARGV  member
--       score: its place in the log
--       message: "<chat, escaped> <JSON>"
--
-- Returns 1 if it was saved, 0 if it was there.

local log, item = KEYS[1], KEYS[2]
local member, score, message = ARGV[1], ARGV[2], ARGV[3]

if redis.call('ZSCORE', log, member) and redis.call('EXISTS', item) == 1 then
  return 0
end
redis.call('SET', item, message)
redis.call('ZADD', log, score, member)
return 1

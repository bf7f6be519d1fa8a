-- Copies a message of a chat, its item together with its entry in the log, unless
-- it is there.
--
-- KEYS  log, item
-- ARGV  member
--       score: its place in the log
--       message: "<chat, escaped> <JSON>"
--       overwrite: 1 to write it although it is there, else 0
--
-- Returns 1 if anything was written, 0 if what is there was kept.

local log, item = KEYS[1], KEYS[2]
local member, score, message, overwrite = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

if overwrite == '1' then
  redis.call('ZADD', log, score, member)
  redis.call('SET', item, message)
  return 1
end
-- An item without an entry is not a message yet: it stays, and gets one.
local written = redis.call('ZADD', log, 'NX', score, member)
if redis.call('SET', item, message, 'NX') then
  written = 1
end
return written

-- Deletes messages of a chat: each item goes together with its entry in the log.
--
-- KEYS  log, items...
-- ARGV  members, as many as items
--
-- Returns how many of them were in the log.

local log = KEYS[1]

local deleted = 0
for i, member in ipairs(ARGV) do
  redis.call('DEL', KEYS[i + 1])
  deleted = deleted + redis.call('ZREM', log, member)
end
return deleted

-- Counts the entries of a journal.
--
-- KEYS  due: the keys of the entries, scored with when they may be claimed, Unix µs
--       claims: "<instance> <key>" of those that are claimed
--       done: the keys of acknowledged entries
--
-- Returns the entries that are there, those of them that are claimed, those that
-- may be claimed now, and the keys remembered.

local time = redis.call('TIME')
return {
  redis.call('ZCARD', KEYS[1]),
  redis.call('ZCARD', KEYS[2]),
  redis.call('ZCOUNT', KEYS[1], '-inf', string.format('%.0f', time[1] * 1000000 + time[2])),
  redis.call('ZCARD', KEYS[3]),
}

-- Deletes a fence, a term or a schedule that still is what was copied.
--
-- KEYS  record, and the index that lists it, if there is one
-- ARGV  id: the record's name in the index
--       value: what was copied
--
-- Returns 1 if it was deleted, 0 if it was written since.

local record, index = KEYS[1], KEYS[2]
local id, value = ARGV[1], ARGV[2]

if redis.call('GET', record) ~= value then
  return 0
end
if index then
  redis.call('ZREM', index, id)
end
return redis.call('DEL', record)

-- Deletes a record or a user's entry, and takes it from the index.
--
-- KEYS  record, and the index that lists it, if there is one
-- ARGV  id: the record's name in the index
--
-- Returns 1 if it was there, else 0.

local record, index = KEYS[1], KEYS[2]
local id = ARGV[1]

if index then
  redis.call('ZREM', index, id)
end
return redis.call('DEL', record)

-- Makes a schedule a tombstone, which keeps its token.
--
-- KEYS  record: "<token> <due> <value>", or "<token> -" once deleted
-- ARGV  none
--
-- Returns 1 if it became one, 0 if it was one or is not there.

local record = KEYS[1]

local present = redis.call('GET', record)
if not present then
  return 0
end
local token, rest = string.match(present, '^(%d+) (.*)$')
if not token or rest == '-' then
  return 0
end
redis.call('SET', record, token .. ' -')
return 1

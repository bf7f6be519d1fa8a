-- Claims entries of a journal that may be claimed, the longest waiting first.
-- Those are new or failed ones whose time has come, and ones whose lease is over.
--
-- KEYS  entries: hash of "<attempt> <instance> <value>" by key; instance is * if
--         nobody has claimed the entry
--       due: the keys of the entries, scored with when they may be claimed, Unix µs
--       claims: "<instance> <key>" of those that are claimed, all scored 0
-- ARGV  instance: who claims
--       limit: how many at most
--       lease: µs until they may be claimed again
--
-- Returns key, attempt, value of each.

local entries, due, claims = KEYS[1], KEYS[2], KEYS[3]
local instance, limit, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local claimed = {}
for _, key in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', string.format('%.0f', now), 'LIMIT', 0, limit)) do
  local entry = redis.call('HGET', entries, key) or ''
  local attempt, whose, at = string.match(entry, '^(%d+) (%S+) ()')
  if attempt then
    attempt = attempt + 1
    local value = string.sub(entry, at)
    redis.call('ZREM', claims, whose .. ' ' .. key)
    redis.call('HSET', entries, key, string.format('%.0f %s ', attempt, instance) .. value)
    redis.call('ZADD', due, string.format('%.0f', now + lease), key)
    redis.call('ZADD', claims, 0, instance .. ' ' .. key)
    claimed[#claimed + 1] = key
    claimed[#claimed + 1] = attempt
    claimed[#claimed + 1] = value
  else
    redis.call('ZREM', due, key) -- of no entry of ours
  end
end
return claimed

-- Claims what a dead instance has claimed, although its leases are not over.
--
-- KEYS  entries: hash of "<attempt> <instance> <value>" by key; instance is * if
--         nobody has claimed the entry
--       due: the keys of the entries, scored with when they may be claimed, Unix µs
--       claims: "<instance> <key>" of those that are claimed, all scored 0
-- ARGV  dead: whose claims
--       instance: who claims them
--       limit: how many at most
--       lease: µs until they may be claimed again
--
-- Returns key, attempt, value of each.

local entries, due, claims = KEYS[1], KEYS[2], KEYS[3]
local dead, instance, limit, lease = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

local time = redis.call('TIME')
local again = string.format('%.0f', time[1] * 1000000 + time[2] + lease)
local claimed = {}
-- '!' follows the blank.
for _, claim in ipairs(redis.call('ZRANGEBYLEX', claims, '[' .. dead .. ' ', '(' .. dead .. '!', 'LIMIT', 0, limit)) do
  local key = string.sub(claim, #dead + 2)
  local entry = redis.call('HGET', entries, key) or ''
  local attempt, whose, at = string.match(entry, '^(%d+) (%S+) ()')
  redis.call('ZREM', claims, claim)
  if whose == dead then
    attempt = attempt + 1
    local value = string.sub(entry, at)
    redis.call('ZADD', due, again, key)
    redis.call('HSET', entries, key, string.format('%.0f %s ', attempt, instance) .. value)
    redis.call('ZADD', claims, 0, instance .. ' ' .. key)
    claimed[#claimed + 1] = key
    claimed[#claimed + 1] = attempt
    claimed[#claimed + 1] = value
  end
end
return claimed

-- Takes a ticket for a chat's turns, or asks again with one taken before, and
-- owns the turn once the ticket is served.
--
-- KEYS  seq: the greatest number given to a ticket
--       tix: the waiting tickets, scored with their numbers
--       serving: "<number> <until>", the ticket called and until when it may own
--       owner: "<number> <ticket>" of the turn that runs; expires unless renewed
--       last: the number of the latest turn
-- ARGV  ticket: "<replica> <nonce>"
--       ttl: ms that a turn is owned and that a called ticket has to own it
--       queue: ms for which tickets are kept although nobody asks
--       idle: ms for which the numbers are kept although nobody takes a turn
--
-- Numbers are the server's clock, or one more than the number before: they grow
-- although nothing of a chat is kept for ever. A ticket that is called and does
-- not ask belongs to a live replica that lost it, else it would have been skipped
-- earlier (turn_skip); it is dropped when its time is over.
--
-- Returns {1, number} if the turn is owned, else {0, tickets in front, the ticket
-- called}; that is '' while a turn runs.

local seq, tix, serving, owner, last = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local ticket, ttl, queue, idle = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2] -- µs

local function decimal(number)
  return string.format('%.0f', number)
end

local function after(key)
  return tonumber(redis.call('GET', key) or 0) + 1
end

local running = redis.call('GET', owner)
if running then
  local number, whose = string.match(running, '^(%d+) (.+)$')
  if whose == ticket then
    redis.call('PEXPIRE', owner, ttl)
    return {1, tonumber(number)}
  end
end

local number = tonumber(redis.call('ZSCORE', tix, ticket) or nil)
if not number then
  number = math.max(now, after(seq), after(last))
  redis.call('SET', seq, decimal(number), 'PX', idle)
  redis.call('ZADD', tix, decimal(number), ticket)
end
redis.call('PEXPIRE', tix, queue)

local called = ''
while not running do
  local front = redis.call('ZRANGE', tix, 0, 0, 'WITHSCORES')
  called = front[1]
  if called == ticket then
    number = math.max(number, after(last))
    redis.call('SET', owner, decimal(number) .. ' ' .. ticket, 'PX', ttl)
    redis.call('SET', last, decimal(number), 'PX', idle)
    redis.call('ZREM', tix, ticket)
    redis.call('DEL', serving)
    return {1, number}
  end
  local whom, limit = string.match(redis.call('GET', serving) or '', '^(%d+) (%d+)$')
  if tonumber(whom) ~= tonumber(front[2]) then
    redis.call('SET', serving, decimal(front[2]) .. ' ' .. decimal(now + ttl * 1000), 'PX', 2 * ttl)
    break
  end
  if now < tonumber(limit) then
    break
  end
  redis.call('ZREM', tix, called)
end
return {0, redis.call('ZRANK', tix, ticket), called}

-- Reads a page of a chat's log: members with scores, in the order of the log,
-- which is by score and then by the bytes of the member.
--
-- KEYS  log
-- ARGV  direction: 'up' for the page that begins the range, 'down' for the one
--         that ends it
--       min, max: the scores in the range, both included
--       limit: how many messages a page has
--       score, member: the message that the page before ended with; the member
--         is empty for a first page
--
-- Returns {1 if there are more in this direction else 0, member, score, ...}.

local log = KEYS[1]
local direction, min, max, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local score, member = ARGV[5], ARGV[6]

-- Lua compares strings in the order of the server's locale, the log does not.
local function less(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then
      return x < y
    end
  end
  return #a < #b
end

-- The page is in the ranks from first to before last.
local first = redis.call('ZCOUNT', log, '-inf', '(' .. min)
local last = redis.call('ZCOUNT', log, '-inf', max)

if member ~= '' then
  -- The member may have been deleted since: find the rank where it would be.
  local low = redis.call('ZCOUNT', log, '-inf', '(' .. score)
  local high = redis.call('ZCOUNT', log, '-inf', score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if less(redis.call('ZRANGE', log, middle, middle)[1], member) then
      low = middle + 1
    else
      high = middle
    end
  end
  if direction == 'down' then
    last = math.min(last, low)
  else
    if redis.call('ZRANGE', log, low, low)[1] == member then
      low = low + 1
    end
    first = math.max(first, low)
  end
end

if first >= last then
  return {0}
end
local more = 0
if last - first > limit then
  more = 1
  if direction == 'down' then
    first = last - limit
  else
    last = first + limit
  end
end
local page = redis.call('ZRANGE', log, first, last - 1, 'WITHSCORES')
table.insert(page, 1, more)
return page

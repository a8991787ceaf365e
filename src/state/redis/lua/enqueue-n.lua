-- Adds an event for its receivers, unless it was queued before.
--
-- KEYS    [i] remembered names by expiry; their times; number of jobs created
--         for each receiver: jobs by next attempt; by creation; their content; its state
-- ARGV    now in Unix milliseconds; 1: this clock decides (tests); name; time since which a remembered name is a
--         duplicate; expiry of the name; name to forget or ''; maximum names; maximum jobs of a
--         receiver; lifetime of jobs; job
-- Return  number of jobs dropped to make room; nothing: duplicate

--- include rules/clock.lua
--- include rules/outbox.lua

local of_caller, decides, name, since, until_, ends, most_names, most, life, job = unpack(ARGV, 1, 10)
local names, queued_at, counter = unpack(KEYS, 1, 3)
local now, offset = read_times(of_caller, decides)

local at = tonumber(redis.call('HGET', queued_at, name) or '-1')
local expiry = tonumber(redis.call('ZSCORE', names, name) or '-1')
if at > now then
  -- The clock was set back: the name is remembered as long from now on as it was to be.
  expiry, at = expiry - at + now, now
  redis.call('ZADD', names, 'XX', expiry, name)
  redis.call('HSET', queued_at, name, at)
end
-- 0: any time.
local first = since == '0' and 0 or since + offset
if at >= first and expiry >= now then return false end

local function forget(old)
  if #old == 0 then return end
  redis.call('ZREM', names, unpack(old))
  redis.call('HDEL', queued_at, unpack(old))
end

forget(redis.call('ZRANGEBYSCORE', names, '-inf', '(' .. now, 'LIMIT', 0, 100))
local over = redis.call('ZCARD', names) - tonumber(most_names) + 1
if over > 0 then forget(redis.call('ZRANGE', names, 0, math.min(over, 100) - 1)) end
if ends ~= '' then forget({ ends }) end
redis.call('ZADD', names, until_ + offset, name)
redis.call('HSET', queued_at, name, now)

local all = 0
for i = 4, #KEYS, 4 do
  local due, createdAt, jobs, last_result = unpack(KEYS, i, i + 3)
  follow_clock(due, last_result, now)
  -- Fixed length keeps simultaneous jobs in order.
  local number = string.format('%016d', redis.call('INCR', counter))
  redis.call('ZADD', due, now, number)
  redis.call('ZADD', createdAt, now, number)
  redis.call('HSET', jobs, number, job)
  -- A lowered bound is reached gradually.
  local dropped = math.min(redis.call('ZCARD', createdAt) - tonumber(most), 1000)
  if dropped > 0 then
    for _, old in ipairs(redis.call('ZRANGE', createdAt, 0, dropped - 1)) do
      redis.call('ZREM', due, old)
      redis.call('ZREM', createdAt, old)
      redis.call('HDEL', jobs, old, old .. ':n')
    end
    redis.call('HINCRBY', last_result, 'lost', dropped)
    all = all + dropped
  end
end
for i = 4, #KEYS do redis.call('PEXPIRE', KEYS[i], life) end
return all

-- Records the result of a job, or that its receiver is up.
--
-- KEYS    [1] jobs by next attempt, [2] by creation, [3] their content, [4] state of the receiver
-- ARGV    [1] done, failed, lost or well, [2] job number ('' for well), [3] now in Unix milliseconds,
--         [4] 1: this clock decides (tests), [5] lifetime
--         done, well: [6] jobs due later than this become due now, [7] their maximum number
--         failed: [6] next attempt, [7] end of the pause, [8] error, [9] 1: the receiver wants no more events
-- Return  'done'

--- include rules/clock.lua
--- include rules/outbox.lua

local what, number = ARGV[1], ARGV[2]
local now, offset = read_times(ARGV[3], ARGV[4])

local function remove()
  redis.call('ZREM', KEYS[1], number)
  redis.call('HDEL', KEYS[3], number, number .. ':n')
  return redis.call('ZREM', KEYS[2], number)
end

follow_clock(KEYS[1], KEYS[4], now)
if what == 'failed' then
  redis.call('ZADD', KEYS[1], 'XX', ARGV[6] + offset, number)
  redis.call('HINCRBY', KEYS[4], 'failures', 1)
  redis.call('HSETNX', KEYS[4], 'failing', now)
  redis.call('HSET', KEYS[4], 'paused', ARGV[7] + offset, 'error', ARGV[8], 'gone', ARGV[9])
elseif what == 'lost' then
  redis.call('HINCRBY', KEYS[4], 'lost', remove())
else
  if number ~= '' then remove() end
  local was = redis.call('HMGET', KEYS[4], 'failing', 'late')
  local moved = {}
  if was[1] or was[2] then
    moved = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[6] + offset, '+inf', 'LIMIT', 0, ARGV[7])
  end
  for _, later in ipairs(moved) do redis.call('ZADD', KEYS[1], now, later) end
  redis.call('HDEL', KEYS[4], 'failures', 'failing', 'error', 'paused', 'gone', 'late')
  redis.call('HSET', KEYS[4], 'delivered', now)
  -- Remaining jobs become due with the next result.
  if #moved == tonumber(ARGV[7]) then redis.call('HSET', KEYS[4], 'late', 1) end
end
redis.call('PEXPIRE', KEYS[4], ARGV[5])
return 'done'

-- Appends an event to the log of webhooks, unless an event of its name is remembered.
--
-- KEYS    [1] events, [2] their types, [3] number of the newest, [4] marks, [5] name, [6] name to forget
-- ARGV    [1] now in Unix milliseconds, [2] time since which a remembered name is a duplicate, [3] expiry of the name,
--         [4] events to keep, [5] lifetime of the log, [6] type, [7] event, then receivers that begin here if they are new
-- Return  1 appended, 0 duplicate

local now, since, expiry, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local at, known_until = unpack(redis.call('HMGET', KEYS[5], 'at', 'until'))
if at then
  -- After the clock was set back, a name is remembered as long as it was to be.
  local ahead = math.max(0, at - now)
  if ahead > 0 then redis.call('HSET', KEYS[5], 'at', at - ahead, 'until', known_until - ahead) end
  if at - ahead >= since and known_until - ahead >= now then return 0 end
end
redis.call('DEL', KEYS[6])
redis.call('HSET', KEYS[5], 'at', now, 'until', expiry)
redis.call('PEXPIRE', KEYS[5], math.max(1, expiry - now))

local number = redis.call('INCR', KEYS[3])
redis.call('XADD', KEYS[1], 'MAXLEN', most, number .. '-0', 'event', ARGV[7])
redis.call('RPUSH', KEYS[2], ARGV[6])
redis.call('LTRIM', KEYS[2], -most, -1)
for i = 1, 2 do redis.call('PEXPIRE', KEYS[i], ARGV[5]) end
for i = 8, #ARGV do redis.call('HSETNX', KEYS[4], ARGV[i], '{"position":' .. number - 1 .. '}') end
return 1

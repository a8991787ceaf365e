-- Adds bans to the index and removes expired bans.
--
-- KEYS    [1] subjects by end of their ban
-- ARGV    [1] now in Unix milliseconds; '': Redis clock (others for tests)
--         for each ban: end in Unix milliseconds, subject
-- Return  1

local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)
-- A ban may arrive after a longer ban.
for i = 2, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], 'GT', ARGV[i], ARGV[i + 1])
end
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then
  redis.call('PEXPIRE', KEYS[1], math.max(1, math.ceil(last[2] - now)))
end
return 1

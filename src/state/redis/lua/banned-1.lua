-- Notes bans that began, and forgets those that have ended.
--
-- KEYS    [1] the index: subjects by the end of their ban
-- ARGV    [1] now in Unix milliseconds, '' for Redis's own clock (anything else is for tests)
--         then for each ban its end in Unix milliseconds and its subject
-- Answer  1

local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)
-- A note may come late, after that of a longer ban.
for i = 2, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], 'GT', ARGV[i], ARGV[i + 1])
end
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then
  redis.call('PEXPIRE', KEYS[1], math.max(1, math.ceil(last[2] - now)))
end
return 1

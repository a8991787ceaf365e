-- Charges one unit to the minute and the day of a subject, or to neither.
-- KEYS[1]  hash of the subject: m, d (units used), M, D (when each window ends, Unix ms)
-- ARGV     units per minute, units per day
-- answer   { admitted (1 or 0), remaining, when the deciding window ends (Unix ms), now (Unix ms) }
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local h = redis.call('HMGET', KEYS[1], 'm', 'M', 'd', 'D')
local m, M, d, D = tonumber(h[1]) or 0, tonumber(h[2]) or 0, tonumber(h[3]) or 0, tonumber(h[4]) or 0
if M <= now then m, M = 0, now + 60000 end
if D <= now then d, D = 0, now + 86400000 end
local minute, day = ARGV[1] - m, ARGV[2] - d
if day < 1 then return { 0, 0, D, now } end
if minute < 1 then return { 0, 0, M, now } end
redis.call('HSET', KEYS[1], 'm', m + 1, 'M', M, 'd', d + 1, 'D', D)
redis.call('PEXPIREAT', KEYS[1], D)
if day <= minute then return { 1, day - 1, D, now } end
return { 1, minute - 1, M, now }

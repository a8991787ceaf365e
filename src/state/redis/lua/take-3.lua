-- Takes the next due job of a receiver until its lease ends.
--
-- KEYS    [1] jobs by next attempt, [2] their content, [3] state of the receiver
-- ARGV    [1] now in Unix milliseconds, [2] 1: this clock decides (tests), [3] duration of the lease
-- Return  number, job, attempts including this one, failures of the receiver; or nothing

--- include rules/clock.lua
--- include rules/outbox.lua

local now = read_times(ARGV[1], ARGV[2])
-- Without jobs there is no state, and this does not begin one, because it would never expire.
if redis.call('EXISTS', KEYS[3]) == 1 then follow_clock(KEYS[1], KEYS[3], now) end
local paused, gone, failures = unpack(redis.call('HMGET', KEYS[3], 'paused', 'gone', 'failures'))
if gone == '1' or tonumber(paused or '0') > now then return false end
local number = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 1)[1]
if not number then return false end
redis.call('ZADD', KEYS[1], now + ARGV[3], number)
local attempts = redis.call('HINCRBY', KEYS[2], number .. ':n', 1)
return { number, redis.call('HGET', KEYS[2], number), attempts, tonumber(failures or '0') }

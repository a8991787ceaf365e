-- Takes the next due job of a receiver until its lease ends.
--
-- KEYS    [1] jobs by next attempt, [2] their content, [3] state of the receiver
-- ARGV    [1] now in Unix milliseconds, [2] end of the lease
-- Return  number, job, attempts including this one, failures of the receiver; or nothing

local paused, gone, failures = unpack(redis.call('HMGET', KEYS[3], 'paused', 'gone', 'failures'))
if gone == '1' or tonumber(paused or '0') > tonumber(ARGV[1]) then return false end
local number = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1)[1]
if not number then return false end
redis.call('ZADD', KEYS[1], ARGV[2], number)
local attempts = redis.call('HINCRBY', KEYS[2], number .. ':n', 1)
return { number, redis.call('HGET', KEYS[2], number), attempts, tonumber(failures or '0') }

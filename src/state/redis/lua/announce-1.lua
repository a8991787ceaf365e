-- Says that a gateway is there, and counts those that are.
--
-- KEYS    [1] the gateways
-- ARGV    [1] this gateway, [2] milliseconds until a silent one no longer counts, [3] lifetime of the key
-- Answer  how many there are, this one included

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
-- A gateway that is started again and again has another name each time.
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1001)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.call('ZCARD', KEYS[1])

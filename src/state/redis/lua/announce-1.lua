-- Registers a gateway and counts registered gateways.
--
-- KEYS    [1] gateways
-- ARGV    [1] gateway, [2] milliseconds until a silent gateway is removed, [3] lifetime of the key
-- Return  number of gateways

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
-- Each restart of a gateway has a new name.
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1001)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.call('ZCARD', KEYS[1])

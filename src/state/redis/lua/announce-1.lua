-- Registers a gateway and counts registered gateways.
--
-- KEYS    [1] gateways
-- ARGV    [1] gateway, [2] milliseconds until a silent gateway is removed, [3] lifetime of the key
-- Return  number of gateways

--- include rules/clock.lua

local now = clock()
-- After the clock was set back, silent gateways would be counted until it is there again.
for _, early in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')) do redis.call('ZADD', KEYS[1], now, early) end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
-- Each restart of a gateway has a new name.
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1001)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.call('ZCARD', KEYS[1])

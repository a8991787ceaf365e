-- Removes a ban, strikes, ban levels and usage. Notifies all gateways.
--
-- KEYS    [1] counters
-- ARGV    [1] channel, [2] message
-- Return  1

redis.call('HDEL', KEYS[1], 's', 'l', 'v', 'w')
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1

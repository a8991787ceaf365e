-- Ends a ban and forgets strikes and rungs; windows stay as they are. Tells all gateways.
--
-- KEYS    [1] the subject's ledger
-- ARGV    [1] channel, [2] message
-- Answer  1

redis.call('HDEL', KEYS[1], 'c', 'b', 'r')
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1

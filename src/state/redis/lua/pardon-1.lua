-- Ends a ban, forgets strikes and rungs, and opens all windows afresh. Tells all gateways.
--
-- KEYS    [1] the subject's ledger
-- ARGV    [1] channel, [2] message
-- Answer  1

redis.call('HDEL', KEYS[1], 'c', 'b', 'r', 'w')
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1

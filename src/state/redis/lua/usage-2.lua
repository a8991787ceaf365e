-- Reads what the store of usage has at one moment.
--
-- KEYS    [1] parts  [2] bytes of sums by name
-- ARGV    none
-- Return  Unix milliseconds; names and parts, alternating; names and bytes, alternating

--- include rules/clock.lua

return { clock(), redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) }

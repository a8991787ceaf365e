-- Writes as an admission does: a Redis that denies scripts or writes is not usable.
--
-- KEYS    [1] probe
-- ARGV    [1] its lifetime in milliseconds
-- Return  1

redis.call('SET', KEYS[1], '', 'PX', ARGV[1])
return 1

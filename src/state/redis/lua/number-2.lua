-- Sets the first number of an audit log that was never written.
--
-- KEYS    [1] entries, [2] number of dropped entries
-- ARGV    [1] numbers before the first entry
-- Return  1 done, 0 already written

if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('SET', KEYS[2], ARGV[1])
return 1

-- Shortens the lifetime of a key that is longer than any that the key gets: the clock was set back since.
--
-- KEYS    [1] key
-- ARGV    [1] its longest lifetime in milliseconds
-- Return  1 shortened, 0 not

if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[1]) then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])

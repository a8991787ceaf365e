-- Lets an audit log in which nothing was ever written begin with another number than 1.
--
-- KEYS    [1] the entries, [2] how many were dropped before them
-- ARGV    [1] how many numbers there were before the first entry
-- Answer  1 done, 0 something was written before

if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('SET', KEYS[2], ARGV[1])
return 1

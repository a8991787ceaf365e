-- Moves a mark, unless another gateway has moved it.
--
-- KEYS    [1] marks
-- ARGV    [1] name, [2] required value; '': missing, [3] new value
-- Return  1 moved, 0 another value

if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1

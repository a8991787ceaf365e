-- Moves a mark, unless somebody else has moved it meanwhile.
--
-- KEYS    [1] the marks
-- ARGV    [1] name, [2] where it must be, '' for nowhere, [3] where it goes
-- Answer  1: it was moved; 0: it is elsewhere

if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1

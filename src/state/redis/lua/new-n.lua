-- Writes values where nothing is yet.
--
-- KEYS    [i] where the value i goes
-- ARGV    [i] the value
-- Answer  for each 1 done, 0 something is there

local answer = {}
for i = 1, #KEYS do answer[i] = redis.call('SETNX', KEYS[i], ARGV[i]) end
return answer

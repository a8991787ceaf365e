-- Writes missing values.
--
-- KEYS    [i] key
-- ARGV    [i] value
-- Return  for each: 1 done, 0 exists

local answer = {}
for i = 1, #KEYS do answer[i] = redis.call('SETNX', KEYS[i], ARGV[i]) end
return answer

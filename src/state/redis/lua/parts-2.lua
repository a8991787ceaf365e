-- Stores parts of the minutes of processes, in place of their earlier content, with the time.
--
-- KEYS    [1] parts  [2] parts that sums contain, with their requests
-- ARGV    [1] 1: their processes have ended  [i] names and contents, alternating
-- Return  names that sums contain and requests, alternating; those are not stored

--- include rules/clock.lua

local parts, taken = KEYS[1], KEYS[2]
local time = ARGV[1] == '1' and 0 or clock()
local refused = {}
for i = 2, #ARGV, 2 do
  local requests = redis.call('HGET', taken, ARGV[i])
  if requests then
    refused[#refused + 1] = ARGV[i]
    refused[#refused + 1] = requests
  else
    redis.call('HSET', parts, ARGV[i], string.format('%d ', time) .. ARGV[i + 1])
  end
end
return refused

-- Stores parts of the minutes of processes, in place of their earlier content, with the time.
--
-- KEYS    [1] parts  [2] parts that sums contain, with their requests
-- ARGV    [1] 1: their processes have ended  [i] names and contents, alternating
-- Return  names, alternating with requests of a part that a sum contains, which is not stored, or with '' for one that
--         had no earlier content

--- include rules/clock.lua

local parts, taken = KEYS[1], KEYS[2]
local time = ARGV[1] == '1' and 0 or clock()
local reply = {}
for i = 2, #ARGV, 2 do
  local requests = redis.call('HGET', taken, ARGV[i])
  local is_new = not requests and redis.call('HSET', parts, ARGV[i], string.format('%d ', time) .. ARGV[i + 1]) == 1
  if requests or is_new then
    reply[#reply + 1] = ARGV[i]
    reply[#reply + 1] = requests or ''
  end
end
return reply

-- Reads entries of a log with their numbers.
--
-- KEYS    [1] entries, oldest first, [2] number of dropped entries
-- ARGV    [1] first number, [2] last number
-- Return  numbers of the oldest, the newest and the first returned entry, then the entries

local dropped = tonumber(redis.call('GET', KEYS[2]) or 0)
local newest = dropped + redis.call('LLEN', KEYS[1])
local first, last = math.max(tonumber(ARGV[1]), dropped + 1), math.min(tonumber(ARGV[2]), newest)
local answer = {dropped + 1, newest, first}
if first > last then return answer end
for i, entry in ipairs(redis.call('LRANGE', KEYS[1], first - dropped - 1, last - dropped - 1)) do answer[i + 3] = entry end
return answer

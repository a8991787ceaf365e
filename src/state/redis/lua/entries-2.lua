-- Reads a part of the audit log, with the numbers of its entries.
--
-- KEYS    [1] the entries, oldest first, [2] how many were dropped before them
-- ARGV    [1] number of the first entry wanted, [2] of the last
-- Answer  number of the oldest entry that is kept, of the newest, of the first that follows, then the entries

local dropped = tonumber(redis.call('GET', KEYS[2]) or 0)
local newest = dropped + redis.call('LLEN', KEYS[1])
local first, last = math.max(tonumber(ARGV[1]), dropped + 1), math.min(tonumber(ARGV[2]), newest)
local answer = {dropped + 1, newest, first}
if first > last then return answer end
for i, entry in ipairs(redis.call('LRANGE', KEYS[1], first - dropped - 1, last - dropped - 1)) do answer[i + 3] = entry end
return answer

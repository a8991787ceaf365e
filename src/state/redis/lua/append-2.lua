-- Appends an entry to the audit log and drops its oldest ones beyond the bound. Numbers stay: what was dropped is counted.
--
-- KEYS    [1] the entries, oldest first, [2] how many were dropped before them
-- ARGV    [1] the entry, [2] how many to keep, [3] how many to drop at the most: a bound that was lowered is reached later
-- Answer  the entry's number

local size = redis.call('LLEN', KEYS[1]) + 1
local over = math.max(0, math.min(size - tonumber(ARGV[2]), tonumber(ARGV[3])))
local dropped = redis.call('INCRBY', KEYS[2], over)
redis.call('RPUSH', KEYS[1], ARGV[1])
if over > 0 then redis.call('LTRIM', KEYS[1], over, -1) end
return dropped + size - over

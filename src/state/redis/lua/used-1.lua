-- Saves last uses; the latest one wins.
--
-- KEYS    [1] ids by last use
-- ARGV    [i] last uses in Unix milliseconds and ids, alternating
-- Return  1

--- include rules/clock.lua

-- Milliseconds by which the clock of a gateway may be ahead.
local AHEAD = 60000
-- Bounds each call.
local CORRECTED_AT_ONCE = 1000

local now = clock()
-- After a clock was set back, later uses would not be saved until it is there again.
local early = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now + AHEAD, '+inf', 'LIMIT', 0, CORRECTED_AT_ONCE)
for _, id in ipairs(early) do redis.call('ZADD', KEYS[1], now, id) end
redis.call('ZADD', KEYS[1], 'GT', unpack(ARGV))
return 1

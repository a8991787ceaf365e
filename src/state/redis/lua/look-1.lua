-- Reads an admission without a charge.
--
-- KEYS    [1] counters
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] escalation
-- Return  as admit-n for one request of cost 0, always with the fields of a refusal

--- include rules/windows.lua
--- include rules/escalation.lua
--- include rules/counters.lua
--- include rules/readings.lua

local now = read_clock(ARGV[1])
local limits = read_limits(2, now)
local counters = open(KEYS[1], limits, now)
if not counters then return {now, -1} end
local reply = {now, ban_end(counters.strike_state, now) > 0 and 2 or 0}
append_readings(reply, counters, limits, now)
append_strike_state(reply, counters, limits, now, 0, 0, 0, false)
return reply

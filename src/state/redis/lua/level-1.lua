-- Reads the strike state. Writes only times that it corrects.
--
-- KEYS    [1] counters
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] escalation
-- Return  {end of the ban or 0, ban level}; if banned: stored ban level, start, and unless an operator banned: kind,
--         span, limit and scope of the window

--- include rules/windows.lua
--- include rules/escalation.lua
--- include rules/counters.lua

local now = read_clock(ARGV[1])
local limits = read_limits(2, now)
local stored = redis.pcall('HMGET', KEYS[1], 's', 'l')
if stored.err or not stored[1] then return {0, 0} end
local strike_state, escalation = cmsgpack.unpack(stored[1]), escalation_of(limits)
if correct_strike_times(strike_state, now) then redis.call('HSET', KEYS[1], 's', cmsgpack.pack(strike_state)) end
local reply = {ban_end(strike_state, now), escalation and level_at(strike_state, escalation, now) or 0}
if reply[1] == 0 then return reply end
reply[3], reply[4] = strike_state[BAN_LEVEL], strike_state[BANNED_SINCE]
for i, value in ipairs(stored[2] and cmsgpack.unpack(stored[2]) or {}) do reply[4 + i] = value end
return reply

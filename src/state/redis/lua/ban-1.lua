-- Bans a subject, or replaces its ban. Notifies all gateways.
--
-- KEYS    [1] counters
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] escalation, [5] duration in milliseconds, [6] channel, [7] message
-- Return  1; -1: the key holds other data

--- include rules/windows.lua
--- include rules/escalation.lua
--- include rules/counters.lua

local now = read_clock(ARGV[1])
local limits = read_limits(2, now)
local counters = open(KEYS[1], limits, now)
if not counters then return -1 end
if not counters.strike_state then make_strike_state(counters, limits) end
local strike_state, escalation = counters.strike_state, escalation_of(limits)
if escalation then strike_state[BAN_LEVEL] = level_at(strike_state, escalation, now) end
counters.ban = ban(strike_state, escalation, tonumber(ARGV[5]), nil, now)
counters.strike_state_changed = true
save(counters, limits, now)
redis.call('PUBLISH', ARGV[6], ARGV[7])
return 1

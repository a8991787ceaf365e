-- Counts refusals that a gateway sent from its memory.
--
-- KEYS    [1] counters
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] escalation, [5] violated window (0: unknown),
--         [6…] times in Unix milliseconds, oldest first
-- Return  as look-1, then the ban level if a ban starts

--- include rules/windows.lua
--- include rules/escalation.lua
--- include rules/counters.lua
--- include rules/readings.lua

local now, limits = read_clock(ARGV[1]), read_limits(2)
local counters = open(KEYS[1], limits)
if not counters then return {now, -1} end
local strike_state, escalation, begins, noted = counters.strike_state, escalation_of(limits), false, false
if strike_state and escalation then
  local window = limits.windows[tonumber(ARGV[5])]
  local refused, first = refused_by(counters, window)
  for i = 6, #ARGV do
    local at = math.min(tonumber(ARGV[i]), now)
    -- Not a strike after a lift, reset or ban, or after the retry time.
    if at < refused[first + 1] and at >= refused[first] + escalation.grace and ban_end(strike_state, at) == 0 then
      begins = strike(strike_state, escalation, window, at) or begins
      counters.strike_state_changed, noted = true, true
    end
  end
  counters.ban = begins
  -- Otherwise these limits may be outdated.
  if noted then save(counters, limits, now) end
end
local answer = {now, ban_end(strike_state, now) > 0 and 2 or 0}
append_readings(answer, counters, limits, now)
append_strike_state(answer, counters, limits, now, 0, 0, begins)
return answer

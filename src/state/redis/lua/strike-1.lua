-- Counts refusals that a gateway sent from its memory.
--
-- KEYS    [1] counters
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] escalation,
--         [5] violated window (0: unknown; -1: too many requests in flight, the refusals are strikes),
--         [6] number of refusals, [7…] times of the last ones in Unix milliseconds, oldest first
-- Return  as look-1, then the ban level if a ban starts

--- include rules/windows.lua
--- include rules/escalation.lua
--- include rules/counters.lua
--- include rules/readings.lua

local IN_FLIGHT = -1

local now = read_clock(ARGV[1])
local limits = read_limits(2, now)
local counters = open(KEYS[1], limits, now)
if not counters then return {now, -1} end
local violated, escalation = tonumber(ARGV[5]), escalation_of(limits)
if escalation and violated == IN_FLIGHT and not counters.strike_state then make_strike_state(counters, limits) end
local strike_state, begins, noted, free = counters.strike_state, false, false, 0

local function add_strike(window, at)
  begins = strike(strike_state, escalation, window, at) or begins
  noted = true
end

-- Not after a lift, reset or ban, or after the retry time.
local function counts(list, first, at)
  return at < list[first + 1] and at >= list[first] + escalation.grace and ban_end(strike_state, at) == 0
end

local function add_refusals(window)
  local list, first = wait_for(counters, window, now)
  local free_here = free_in(escalation, window)
  if counts(list, first, math.min(tonumber(ARGV[7]), now)) then
    list[first + 2] = list[first + 2] + tonumber(ARGV[6]) - (#ARGV - 6)
  end
  for i = 7, #ARGV do
    local at = math.min(tonumber(ARGV[i]), now)
    if counts(list, first, at) then
      noted = true
      list[first + 2] = list[first + 2] + 1
      if list[first + 2] > free_here then add_strike(window, at) end
    end
  end
  free = free_refusals(escalation, window, now, list, first)
  counters.waits_changed = list == counters.waits
end

if escalation and violated == IN_FLIGHT then
  for i = 7, #ARGV do
    local at = math.min(tonumber(ARGV[i]), now)
    if ban_end(strike_state, at) == 0 then add_strike(nil, at) end
  end
elseif escalation and strike_state then
  add_refusals(limits.windows[violated])
end
counters.ban = begins
counters.strike_state_changed = counters.strike_state_changed or noted
-- Otherwise these limits may be outdated.
if noted then save(counters, limits, now) end

local reply = {now, ban_end(strike_state, now) > 0 and 2 or 0}
append_readings(reply, counters, limits, now)
append_strike_state(reply, counters, limits, now, 0, 0, begins and 0 or free, begins)
return reply

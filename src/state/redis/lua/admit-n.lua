-- Decides and charges many requests in one step. A request is charged in all its windows or in none.
--
-- KEYS    [i] counters of request i; repeated keys are decided in order
-- ARGV    [1] now in Unix milliseconds; '': Redis clock (others for tests)
--         [2] number of limit sets; for each: ids, windows, escalation
--         for each request: number of its set; cost, or `cost:0110` (1: charged window; default: unscoped windows)
-- Return  now, then for each request a verdict: 0 admitted, 1 limited, 2 banned, 3 admitted after refusals,
--         -1 other data; unless -1, for each window: used (below 0: see readingOf in src/limits/admission.ts), reset;
--         if 3: strikes;
--         if 1 or 2: violated window (0: none), retry time, strikes, further refusals that are not strikes, end of the
--         ban, level of a starting ban (0: none)
--
-- Must equal `admit` in src/limits/admission.ts; a property test compares them.

--- include rules/windows.lua
--- include rules/escalation.lua
--- include rules/counters.lua
--- include rules/readings.lua

local now = read_clock(ARGV[1])
local sets, all_counters, written, reply, size = {}, {}, {}, {now}, 1
local sets_count = tonumber(ARGV[2])
for i = 1, sets_count do sets[i] = read_limits(3 * i, now) end
local argument = 3 * sets_count + 3

local function latest_fit(cells, windows, cost, counted)
  local latest = 0
  for i = 1, #windows do
    local w = windows[i]
    if (not counted or counted[i]) and not w.excess then latest = max(latest, w.meter.fits_at(cells, w, cost, now)) end
  end
  return latest
end

local function refuse(counters, limits, cost, violated, counted)
  local banned = ban_end(counters.strike_state, now) > 0
  local fits_at = violated > 0 and latest_fit(counters.cells, limits.windows, cost, counted) or 0
  local begins, free = false, 0
  local escalation = not banned and escalation_of(limits)
  if escalation then
    if not counters.strike_state then make_strike_state(counters, limits) end
    local window = limits.windows[violated]
    local list, at = wait_for(counters, window, now)
    begins = note_refusal(counters.strike_state, escalation, window, fits_at, now, list, at)
    if not begins then free = free_refusals(escalation, window, now, list, at) end
    counters.waits_changed = counters.waits_changed or list == counters.waits
    counters.ban = begins or counters.ban
    counters.strike_state_changed = true
  end
  reply[size + 1] = (banned or begins) and 2 or 1
  append_readings(reply, counters, limits, now)
  append_strike_state(reply, counters, limits, now, violated, fits_at, free, begins)
  size = #reply
end

-- Taken before the charge is decided.
local used, resets = {}, {}

-- `counted`: whether each window is charged; nil: all.
local function admit(counters, limits, cost, counted)
  local cells, windows, violated = counters.cells, limits.windows, 0
  local count = #windows
  for i = 1, count do
    local w = windows[i]
    used[i], resets[i] = w.meter.read(cells, w, now)
    if used[i] + cost > w.limit and not w.excess and (not counted or counted[i]) then violated = i end
  end
  local strike_state = counters.strike_state
  if violated > 0 or (strike_state and ban_end(strike_state, now) > 0) then
    return refuse(counters, limits, cost, violated, counted)
  end
  reply[size + 1] = strike_state and 3 or 0
  for i = 1, count do
    local w = windows[i]
    size = size + 2
    if not counted or counted[i] then
      if w.excess == WATCH and used[i] + cost > w.limit then
        reply[size] = -1 - used[i]
      else
        if w.meter.charge(cells, w, cost, now) then counters.opened = true end
        reply[size] = used[i] + cost
      end
      -- A charge may open a sliding window's first slot, but changes no reset of other kinds.
      reply[size + 1] = w.meter ~= sliding and resets[i] or w.meter.reset_at(cells, w, now)
    else
      reply[size] = used[i]
      reply[size + 1] = resets[i]
    end
  end
  size = size + 1
  counters.cells_changed = true
  if strike_state then
    append_strikes(reply, counters, limits, now)
    size = size + 1
  end
end

-- Reads `5:0110`: units and charged windows. Requests of one operation share the list.
local function read_charge(text, limits)
  local units, mask = string.match(text, '^(%d+):([01]+)$')
  limits.charges = limits.charges or {}
  local counted = limits.charges[mask]
  if not counted then
    counted = {}
    for i = 1, #mask do counted[i] = string.sub(mask, i, i) == '1' end
    limits.charges[mask] = counted
  end
  return tonumber(units), counted
end

for i = 1, #KEYS do
  local key, limits = KEYS[i], sets[tonumber(ARGV[argument])]
  local cost, counted = tonumber(ARGV[argument + 1]), limits.windows.own
  if not cost then cost, counted = read_charge(ARGV[argument + 1], limits) end
  argument = argument + 2
  local counters = all_counters[key]
  if counters == nil then
    counters = open(key, limits, now)
    all_counters[key] = counters or false
    if counters then written[#written + 1] = counters end
  elseif counters and counters.limits ~= limits then
    adopt(counters, limits)
    correct_times(counters, limits, now)
  end
  if counters then
    counters.limits = limits
    admit(counters, limits, cost, counted)
  else
    size = size + 1
    reply[size] = -1
  end
end

-- Last, so that a read-only Redis charges nothing.
for i = 1, #written do save(written[i], written[i].limits, now) end
return reply

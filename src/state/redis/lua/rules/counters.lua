-- Counters of a subject: a hash of packed fields. Every change also updates the lifetime.
-- w: cells; c: strike state, absent before the first refusal
-- b: details of the last ban, void unless its end equals that in c, because older gateways write c alone
-- r: `refusals` (see escalation.lua), void without c, because older gateways do not know it
-- d:<gateway>: last sum that the gateway added after an outage

-- Milliseconds; exceeds clock jitter, so that counters never expire early.
local MARGIN = 1000

-- Unix milliseconds; `given` is '' except in tests.
local function read_clock(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + floor(time[2] / 1000)
end

-- Reads ids, windows and escalation from ARGV[at].
local function read_limits(at)
  local ids, windows = ARGV[at], ARGV[at + 1]
  return {ids = ids, text = windows, windows = read_windows(windows), escalation_text = ARGV[at + 2]}
end

-- Read lazily: only refused subjects need it.
local function escalation_of(limits)
  if limits.escalation == nil then limits.escalation = read_escalation(limits.escalation_text) or false end
  return limits.escalation
end

-- New limits invalidate retry times; bans and ban levels stay.
local function adopt(counters, limits)
  if counters.cells[1] ~= limits.ids then
    counters.cells = adopt_cells(counters.cells, limits.ids, limits.windows)
    counters.cells_changed = true
  end
  local strike_state = counters.strike_state
  if strike_state and strike_state[LIMITS] ~= limits.text then
    strike_state[LIMITS], strike_state[REFUSED_AT], strike_state[REFUSED_UNTIL] = limits.text, 0, 0
    counters.strike_state_changed = true
    counters.refusals, counters.refusals_changed = {}, true
  end
end

-- Read lazily: only refusals by scopes need it.
local function refusals_of(counters)
  if not counters.refusals then
    local stored = redis.call('HGET', counters.key, 'r')
    counters.refusals = stored and cmsgpack.unpack(stored) or {}
  end
  return counters.refusals
end

-- Returns the array with the first refusal by this window, and its index.
local function refused_by(counters, window)
  if not (window and window.scope) then return counters.strike_state, REFUSED_AT end
  local refusals = refusals_of(counters)
  return refusals, place_in(refusals, window.scope)
end

local function make_strike_state(counters, limits)
  counters.strike_state = new_strike_state(limits.text)
  counters.refusals, counters.refusals_changed = {}, true
end

-- New counters if missing; nil if the key holds other data.
local function read_counters(key, limits)
  local stored = redis.pcall('HMGET', key, 'w', 'c')
  if stored.err then return nil end
  local cells, strike_state = stored[1], stored[2]
  return {
    key = key,
    cells = cells and cmsgpack.unpack(cells) or fresh_cells(limits.ids, limits.windows),
    strike_state = strike_state and cmsgpack.unpack(strike_state) or nil,
    -- Whether the lifetime may need an extension.
    opened = not cells,
  }
end

local function open(key, limits)
  local counters = read_counters(key, limits)
  if counters then adopt(counters, limits) end
  return counters
end

-- Like `open`, for limits that may be outdated: newer windows continue to count.
local function open_beside(key, limits)
  local counters = read_counters(key, limits)
  if counters and counters.cells[1] ~= limits.ids then
    join_cells(counters.cells, limits.ids, limits.windows)
    counters.left = redis.call('PTTL', key)
  end
  return counters
end

local function save(counters, limits, now)
  local key = counters.key
  if counters.strike_state_changed then
    redis.call('HSET', key, 'w', cmsgpack.pack(counters.cells), 'c', cmsgpack.pack(counters.strike_state))
    if counters.ban then redis.call('HSET', key, 'b', cmsgpack.pack(counters.ban)) end
  elseif counters.cells_changed then
    redis.call('HSET', key, 'w', cmsgpack.pack(counters.cells))
  else
    return
  end
  if counters.refusals_changed then
    if #counters.refusals == 0 then redis.call('HDEL', key, 'r') else redis.call('HSET', key, 'r', cmsgpack.pack(counters.refusals)) end
  end
  if counters.opened or counters.strike_state_changed then
    local stale = windows_stale_at(counters.cells, limits.windows)
    for i = 3, counters.refusals and #counters.refusals or 0, 3 do stale = max(stale, counters.refusals[i]) end
    if counters.strike_state then stale = max(stale, strike_state_stale_at(counters.strike_state, escalation_of(limits))) end
    -- Other windows may need a longer lifetime.
    local left = max(stale - now, (counters.left or 0) - MARGIN, 0)
    redis.call('PEXPIRE', key, string.format('%.0f', left + MARGIN))
  end
end

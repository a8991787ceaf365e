-- Counters of a subject: a hash of packed fields. Every change also updates the lifetime.
-- w: cells; s: strike state, absent before the first refusal; l: limit of the last ban, absent if an operator set it
-- v: waits in scopes (see escalation.lua), void without s
-- d:<gateway>: last sum that the gateway added after an outage

-- Milliseconds; exceeds clock jitter, so that counters never expire early.
local MARGIN = 1000

-- Unix milliseconds; `given` is '' except in tests.
local function read_clock(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + floor(time[2] / 1000)
end

-- Reads ids, windows and escalation from ARGV[at]. Ends the script, which has changed nothing, if borders of calendar
-- windows are not those around now: the gateway then sends them (state/redis/counters.ts).
local function read_limits(at, now)
  local windows = read_windows(ARGV[at + 1])
  for i = 1, #windows do
    if not calendar.knows(windows[i], now) then error(string.format('BORDERS %.0f', now)) end
  end
  return {ids = ARGV[at], text = windows.text, windows = windows, escalation_text = ARGV[at + 2]}
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
    strike_state[LIMITS] = limits.text
    end_wait(strike_state)
    counters.strike_state_changed = true
    counters.waits, counters.waits_changed = {}, true
  end
end

-- What lies further in the future than its own span allows began now: the clock was fast, and has been corrected.
local function correct_times(counters, limits, now)
  if correct_window_times(counters.cells, limits.windows, now) then
    -- Another zone may end a window later.
    counters.cells_changed, counters.opened = true, true
  end
  local strike_state = counters.strike_state
  if not strike_state then return end
  if strike_state[WAIT] > now then
    end_wait(strike_state)
    counters.strike_state_changed = true
  end
  if correct_strike_times(strike_state, now) then counters.strike_state_changed = true end
end

-- Read lazily: only refusals by scopes need it.
local function waits_of(counters, now)
  if not counters.waits then
    local stored = redis.call('HGET', counters.key, 'v')
    local waits = stored and cmsgpack.unpack(stored) or {}
    for i = 2, #waits, 4 do
      if waits[i] > now then waits[i], waits[i + 1], waits[i + 2] = 0, 0, 0 end
    end
    counters.waits = waits
  end
  return counters.waits
end

-- Returns the array with the wait after a refusal by this window, and its index.
local function wait_for(counters, window, now)
  if not (window and window.scope) then return counters.strike_state, WAIT end
  local waits = waits_of(counters, now)
  return waits, place_in(waits, window.scope)
end

local function make_strike_state(counters, limits)
  counters.strike_state = new_strike_state(limits.text)
  counters.waits, counters.waits_changed = {}, true
end

-- New counters if missing; nil if the key holds other data.
local function read_counters(key, limits)
  local stored = redis.pcall('HMGET', key, 'w', 's')
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

local function open(key, limits, now)
  local counters = read_counters(key, limits)
  if counters then
    adopt(counters, limits)
    correct_times(counters, limits, now)
  end
  return counters
end

-- Like `open`, for limits that may be outdated: newer windows continue to count.
local function open_beside(key, limits, now)
  local counters = read_counters(key, limits)
  if not counters then return nil end
  if counters.cells[1] ~= limits.ids then
    join_cells(counters.cells, limits.ids, limits.windows)
    counters.left = redis.call('PTTL', key)
  end
  correct_times(counters, limits, now)
  return counters
end

-- An empty list has no field.
local function store_list(key, field, list)
  if #list == 0 then redis.call('HDEL', key, field) else redis.call('HSET', key, field, cmsgpack.pack(list)) end
end

local function save(counters, limits, now)
  local key = counters.key
  if counters.strike_state_changed then
    redis.call('HSET', key, 'w', cmsgpack.pack(counters.cells), 's', cmsgpack.pack(counters.strike_state))
    if counters.ban then store_list(key, 'l', counters.ban) end
  elseif counters.cells_changed then
    redis.call('HSET', key, 'w', cmsgpack.pack(counters.cells))
  else
    return
  end
  if counters.waits_changed then store_list(key, 'v', counters.waits) end
  if counters.opened or counters.strike_state_changed then
    local stale = windows_stale_at(counters.cells, limits.windows)
    for i = 3, counters.waits and #counters.waits or 0, 4 do stale = max(stale, counters.waits[i]) end
    if counters.strike_state then stale = max(stale, strike_state_stale_at(counters.strike_state)) end
    -- Other windows may need a longer lifetime.
    local left = max(stale - now, (counters.left or 0) - MARGIN, 0)
    redis.call('PEXPIRE', key, string.format('%.0f', left + MARGIN))
  end
end

-- Counters of a subject: a hash of packed fields. Every change also updates the lifetime.
-- w: cells; c: strike state, absent before the first refusal
-- b: details of the last ban, void unless its end equals that in c, because older gateways write c alone
-- r: `told` (see ladder.lua), void without c, because older gateways do not know it
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
  return {ids = ids, text = windows, windows = read_windows(windows), ladder_text = ARGV[at + 2]}
end

-- Read lazily: only refused subjects need it.
local function ladder_of(limits)
  if limits.ladder == nil then limits.ladder = read_ladder(limits.ladder_text) or false end
  return limits.ladder
end

-- New limits invalidate retry times; bans and ban levels stay.
local function adopt(ledger, limits)
  if ledger.cells[1] ~= limits.ids then
    ledger.cells = adopt_cells(ledger.cells, limits.ids, limits.windows)
    ledger.cells_changed = true
  end
  local conduct = ledger.conduct
  if conduct and conduct[LIMITS] ~= limits.text then
    conduct[LIMITS], conduct[REFUSED_AT], conduct[REFUSED_UNTIL] = limits.text, 0, 0
    ledger.conduct_changed = true
    ledger.told, ledger.told_changed = {}, true
  end
end

-- Read lazily: only refusals by scopes need it.
local function told_of(ledger)
  if not ledger.told then
    local stored = redis.call('HGET', ledger.key, 'r')
    ledger.told = stored and cmsgpack.unpack(stored) or {}
  end
  return ledger.told
end

-- Returns the array with the first refusal by this window, and its index.
local function refused_by(ledger, window)
  if not (window and window.scope) then return ledger.conduct, REFUSED_AT end
  local told = told_of(ledger)
  return told, place_in(told, window.scope)
end

local function make_conduct(ledger, limits)
  ledger.conduct = new_conduct(limits.text)
  ledger.told, ledger.told_changed = {}, true
end

-- New counters if missing; nil if the key holds other data.
local function read_ledger(key, limits)
  local stored = redis.pcall('HMGET', key, 'w', 'c')
  if stored.err then return nil end
  local cells, conduct = stored[1], stored[2]
  return {
    key = key,
    cells = cells and cmsgpack.unpack(cells) or fresh_cells(limits.ids, limits.windows),
    conduct = conduct and cmsgpack.unpack(conduct) or nil,
    -- Whether the lifetime may need an extension.
    opened = not cells,
  }
end

local function open(key, limits)
  local ledger = read_ledger(key, limits)
  if ledger then adopt(ledger, limits) end
  return ledger
end

-- Like `open`, for limits that may be outdated: newer windows continue to count.
local function open_beside(key, limits)
  local ledger = read_ledger(key, limits)
  if ledger and ledger.cells[1] ~= limits.ids then
    join_cells(ledger.cells, limits.ids, limits.windows)
    ledger.left = redis.call('PTTL', key)
  end
  return ledger
end

local function save(ledger, limits, now)
  local key = ledger.key
  if ledger.conduct_changed then
    redis.call('HSET', key, 'w', cmsgpack.pack(ledger.cells), 'c', cmsgpack.pack(ledger.conduct))
    if ledger.ban then redis.call('HSET', key, 'b', cmsgpack.pack(ledger.ban)) end
  elseif ledger.cells_changed then
    redis.call('HSET', key, 'w', cmsgpack.pack(ledger.cells))
  else
    return
  end
  if ledger.told_changed then
    if #ledger.told == 0 then redis.call('HDEL', key, 'r') else redis.call('HSET', key, 'r', cmsgpack.pack(ledger.told)) end
  end
  if ledger.opened or ledger.conduct_changed then
    local stale = windows_stale_at(ledger.cells, limits.windows)
    for i = 3, ledger.told and #ledger.told or 0, 3 do stale = max(stale, ledger.told[i]) end
    if ledger.conduct then stale = max(stale, conduct_stale_at(ledger.conduct, ladder_of(limits))) end
    -- Other windows may need a longer lifetime.
    local left = max(stale - now, (ledger.left or 0) - MARGIN, 0)
    redis.call('PEXPIRE', key, string.format('%.0f', left + MARGIN))
  end
end

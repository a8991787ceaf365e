-- One subject's ledger: a hash with the fields w (cells), c (conduct, absent until the first refusal) and b (what is told of
-- the last ban, see ladder.lua; void unless it names the same end as c: older gateways write c alone), all packed;
-- r is what was told about coming back in scopes (`told` in ladder.lua; void without c: older gateways do not know it);
-- d:<gateway> is the last sum that gateway has added after an outage. Whoever changes a ledger also sees to its lifetime.

-- Longer than clocks jitter, so that a ledger is never gone before it says nothing any more.
local MARGIN = 1000

-- Unix milliseconds; `given` is '' but in tests.
local function read_clock(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + floor(time[2] / 1000)
end

-- ARGV[at] and the two after it: window ids, windows, ladder.
local function read_limits(at)
  local ids, windows = ARGV[at], ARGV[at + 1]
  return {ids = ids, text = windows, windows = read_windows(windows), ladder_text = ARGV[at + 2]}
end

-- The ladder matters to the few who were refused, so it is not read for the others.
local function ladder_of(limits)
  if limits.ladder == nil then limits.ladder = read_ladder(limits.ladder_text) or false end
  return limits.ladder
end

-- What was told about coming back is void when limits change; bans and rungs stay.
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

-- What was told in scopes matters to the few who are refused there, so it is not read for the others.
local function told_of(ledger)
  if not ledger.told then
    local stored = redis.call('HGET', ledger.key, 'r')
    ledger.told = stored and cmsgpack.unpack(stored) or {}
  end
  return ledger.told
end

-- The array that has when a refusal by this window was first answered, and where in it.
local function refused_by(ledger, window)
  if not (window and window.scope) then return ledger.conduct, REFUSED_AT end
  local told = told_of(ledger)
  return told, place_in(told, window.scope)
end

local function make_conduct(ledger, limits)
  ledger.conduct = new_conduct(limits.text)
  ledger.told, ledger.told_changed = {}, true
end

-- As it is stored, and fresh for these limits where there is none. nil where the key holds something that is no ledger.
local function read_ledger(key, limits)
  local stored = redis.pcall('HMGET', key, 'w', 'c')
  if stored.err then return nil end
  local cells, conduct = stored[1], stored[2]
  return {
    key = key,
    cells = cells and cmsgpack.unpack(cells) or fresh_cells(limits.ids, limits.windows),
    conduct = conduct and cmsgpack.unpack(conduct) or nil,
    -- Whether it may have to live longer than it does.
    opened = not cells,
  }
end

local function open(key, limits)
  local ledger = read_ledger(key, limits)
  if ledger then adopt(ledger, limits) end
  return ledger
end

-- The same for limits that may be older than those that the ledger counts in: it goes on counting in these too.
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
    -- What it counts besides may hold for longer.
    local left = max(stale - now, (ledger.left or 0) - MARGIN, 0)
    redis.call('PEXPIRE', key, string.format('%.0f', left + MARGIN))
  end
end

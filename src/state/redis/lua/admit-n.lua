-- Decides and charges many requests in one step. A request is charged in all its windows or in none.
--
-- KEYS    [i] counters of request i; repeated keys are decided in order
-- ARGV    [1] now in Unix milliseconds; '': Redis clock (others for tests)
--         [2] number of limit sets; for each: ids, windows, escalation
--         for each request: number of its set; cost, or `cost:0110` (1: charged window; default: unscoped windows)
-- Return  now, then for each request a verdict: 0 admitted, 1 limited, 2 banned, 3 admitted after refusals,
--         -1 other data; unless -1, for each window: remaining, reset; if 3: strikes;
--         if 1 or 2: violated window (0: none), retry time, strikes, end of the ban, level of a starting ban (0: none)
--
-- Must equal `admit` in src/limits/admission.ts; a property test compares them.

--- include rules/windows.lua
--- include rules/ladder.lua
--- include rules/ledger.lua
--- include rules/standing.lua

local now = read_clock(ARGV[1])
local sets, ledgers, written, answer, size = {}, {}, {}, {now}, 1
local sets_count = tonumber(ARGV[2])
for i = 1, sets_count do sets[i] = read_limits(3 * i) end
local argument = 3 * sets_count + 3

local function latest_fit(cells, windows, cost, counted)
  local latest = 0
  for i = 1, #windows do
    local w = windows[i]
    if not counted or counted[i] then latest = max(latest, w.meter.fits_at(cells, w, cost, now)) end
  end
  return latest
end

local function refuse(ledger, limits, cost, violated, counted)
  local banned = ban_end(ledger.conduct, now) > 0
  local fits_at = violated > 0 and latest_fit(ledger.cells, limits.windows, cost, counted) or 0
  local begins = false
  local ladder = not banned and ladder_of(limits)
  if ladder then
    if not ledger.conduct then make_conduct(ledger, limits) end
    local window = limits.windows[violated]
    local refused, at = refused_by(ledger, window)
    begins = note_refusal(ledger.conduct, ladder, window, fits_at, now, refused, at)
    ledger.told_changed = ledger.told_changed or refused == ledger.told
    ledger.ban = begins or ledger.ban
    ledger.conduct_changed = true
  end
  answer[size + 1] = (banned or begins) and 2 or 1
  append_readings(answer, ledger, limits, now)
  append_conduct(answer, ledger, limits, now, violated, fits_at, begins)
  size = #answer
end

-- Taken before the charge is decided.
local used, resets = {}, {}

-- `counted`: whether each window is charged; nil: all.
local function admit(ledger, limits, cost, counted)
  local cells, windows, violated = ledger.cells, limits.windows, 0
  local count = #windows
  for i = 1, count do
    local w = windows[i]
    used[i], resets[i] = w.meter.read(cells, w, now)
    if used[i] + cost > w.limit and (not counted or counted[i]) then violated = i end
  end
  local conduct = ledger.conduct
  if violated > 0 or (conduct and ban_end(conduct, now) > 0) then
    return refuse(ledger, limits, cost, violated, counted)
  end
  answer[size + 1] = conduct and 3 or 0
  for i = 1, count do
    local w = windows[i]
    size = size + 2
    if not counted or counted[i] then
      if w.meter.charge(cells, w, cost, now) then ledger.opened = true end
      answer[size] = w.limit - used[i] - cost
      -- A charge may open a sliding window's first slot, but does not change a fixed window's reset.
      answer[size + 1] = w.meter == fixed and resets[i] or w.meter.reset_at(cells, w, now)
    else
      answer[size] = max(0, w.limit - used[i])
      answer[size + 1] = resets[i]
    end
  end
  size = size + 1
  ledger.cells_changed = true
  if conduct then
    append_strikes(answer, ledger, limits, now)
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
  local ledger = ledgers[key]
  if ledger == nil then
    ledger = open(key, limits)
    ledgers[key] = ledger or false
    if ledger then written[#written + 1] = ledger end
  elseif ledger then
    adopt(ledger, limits)
  end
  if ledger then
    ledger.limits = limits
    admit(ledger, limits, cost, counted)
  else
    size = size + 1
    answer[size] = -1
  end
end

-- Last, so that a read-only Redis charges nothing.
for i = 1, #written do save(written[i], written[i].limits, now) end
return answer

-- Windows. Must equal windows.ts and counters.ts in src/limits, which give reasons; a property test compares them.
-- Cells are a flat array. The first entry holds window ids: `60000,s3600000,c86400000,60000@login` (s: sliding,
-- c: calendar, @: scope).

local floor, ceil, max = math.floor, math.ceil, math.max
local SLOTS = 20

local fixed = {size = 2, code = 0}

local function is_open(cells, w, now)
  return cells[w.at + 1] > 0 and now < cells[w.at] + w.span
end

function fixed.used(cells, w, now)
  if is_open(cells, w, now) then return cells[w.at + 1] end
  return 0
end

-- Returns whether the lifetime increases.
function fixed.charge(cells, w, cost, now)
  local at = w.at
  if is_open(cells, w, now) then
    cells[at + 1] = cells[at + 1] + cost
    return false
  end
  cells[at] = now
  cells[at + 1] = cost
  return true
end

function fixed.refund(cells, w, units, now)
  if is_open(cells, w, now) then cells[w.at + 1] = max(0, cells[w.at + 1] - units) end
end

function fixed.reset_at(cells, w, now)
  return (is_open(cells, w, now) and cells[w.at] or now) + w.span
end

function fixed.fits_at(cells, w, cost, now)
  if fixed.used(cells, w, now) + cost <= w.limit then return now end
  return fixed.reset_at(cells, w, now)
end

function fixed.read(cells, w, now)
  local at = w.at
  local units, over = cells[at + 1], cells[at] + w.span
  if units > 0 and now < over then return units, over end
  return 0, now + w.span
end

function fixed.correct_times(cells, w, now)
  if cells[w.at] <= now then return false end
  cells[w.at] = now
  return true
end

function fixed.stale_at(cells, w)
  return cells[w.at] + w.span
end

function fixed.end_from(w, now)
  return now + w.span
end

local sliding = {size = SLOTS + 2, code = 1, end_from = fixed.end_from}

local function slot_length(w) return ceil(w.span / SLOTS) end
local function slot_of(w, now) return floor(now / slot_length(w)) end
local function leaves_at(w, slot) return (slot + SLOTS + 1) * slot_length(w) end
local function cell_of(w, slot) return w.at + 1 + slot % (SLOTS + 1) end
local function oldest_counted(cells, w, now)
  return max(0, max(cells[w.at], slot_of(w, now)) - SLOTS)
end

function sliding.used(cells, w, now)
  local used = 0
  for slot = oldest_counted(cells, w, now), cells[w.at] do used = used + cells[cell_of(w, slot)] end
  return used
end

function sliding.charge(cells, w, cost, now)
  local newest = cells[w.at]
  local slot = max(newest, slot_of(w, now))
  for s = max(newest + 1, slot - SLOTS), slot do cells[cell_of(w, s)] = 0 end
  cells[w.at] = slot
  cells[cell_of(w, slot)] = cells[cell_of(w, slot)] + cost
  return slot > newest
end

function sliding.refund(cells, w, units, now)
  for slot = cells[w.at], oldest_counted(cells, w, now), -1 do
    local cell = cell_of(w, slot)
    local taken = math.min(units, cells[cell])
    cells[cell] = cells[cell] - taken
    units = units - taken
  end
end

function sliding.reset_at(cells, w, now)
  for slot = oldest_counted(cells, w, now), cells[w.at] do
    if cells[cell_of(w, slot)] > 0 then return leaves_at(w, slot) end
  end
  return now + w.span
end

function sliding.fits_at(cells, w, cost, now)
  local used = sliding.used(cells, w, now)
  if used + cost <= w.limit then return now end
  for slot = oldest_counted(cells, w, now), cells[w.at] do
    used = used - cells[cell_of(w, slot)]
    if used + cost <= w.limit then return leaves_at(w, slot) end
  end
  return now + w.span
end

function sliding.read(cells, w, now)
  return sliding.used(cells, w, now), sliding.reset_at(cells, w, now)
end

function sliding.correct_times(cells, w, now)
  local newest, slot = cells[w.at], slot_of(w, now)
  if newest <= slot then return false end
  local moved = 0
  for s = max(slot + 1, newest - SLOTS), newest do
    local cell = cell_of(w, s)
    moved = moved + cells[cell]
    cells[cell] = 0
  end
  cells[w.at] = slot
  local cell = cell_of(w, slot)
  cells[cell] = cells[cell] + moved
  return true
end

function sliding.stale_at(cells, w)
  return leaves_at(w, cells[w.at])
end

local calendar = {size = 2, code = 2}
local JITTER = 1000

-- The gateway sent the begin of the period that it believes to be current, its end, and the end of the next one. Only
-- calendar windows have borders.
function calendar.knows(w, now)
  local borders = w.borders
  return not borders or (now >= borders[1] and now + JITTER < borders[3])
end

-- The end of the period at `now`, which the borders include; the first border ends all earlier ones.
function calendar.end_from(w, now)
  local borders = w.borders
  if now >= borders[2] then return borders[3] end
  if now >= borders[1] then return borders[2] end
  return borders[1]
end

function calendar.used(cells, w, now)
  if cells[w.at] > now then return cells[w.at + 1] end
  return 0
end

function calendar.charge(cells, w, cost, now)
  local at = w.at
  if cells[at] > now then
    cells[at + 1] = cells[at + 1] + cost
    return false
  end
  cells[at] = calendar.end_from(w, now)
  cells[at + 1] = cost
  return true
end

function calendar.refund(cells, w, units, now)
  if cells[w.at] > now then cells[w.at + 1] = max(0, cells[w.at + 1] - units) end
end

function calendar.reset_at(cells, w, now)
  if cells[w.at] > now then return cells[w.at] end
  return calendar.end_from(w, now)
end

function calendar.fits_at(cells, w, cost, now)
  if calendar.used(cells, w, now) + cost <= w.limit then return now end
  return calendar.reset_at(cells, w, now)
end

function calendar.read(cells, w, now)
  return calendar.used(cells, w, now), calendar.reset_at(cells, w, now)
end

function calendar.correct_times(cells, w, now)
  local stored, current = cells[w.at], calendar.end_from(w, now)
  if stored <= now or stored == current or stored == calendar.end_from(w, now + JITTER) then return false end
  cells[w.at] = current
  return true
end

function calendar.stale_at(cells, w)
  return cells[w.at]
end

local METERS = {[0] = fixed, [1] = sliding, [2] = calendar}

-- What happens to requests above the limit, in the tens of the code (2: overage); otherwise they are refused.
local WATCH = 1

-- `[0, 60000, 60, 2, 86400000, 500, [1, 2, 3], "login"]` becomes {{meter, span, limit, at, borders, scope}, …}; a scope
-- follows its window. `text` is the same without borders. With scopes, `own` holds for each window whether every
-- request counts in it.
local function read_windows(text)
  local values, windows, at, i = cjson.decode(text), {text = text}, 2, 1
  while values[i] do
    local code = values[i]
    local w = {meter = METERS[code % 10], span = values[i + 1], limit = values[i + 2], at = at}
    if code >= 10 then w.excess = floor(code / 10) end
    i = i + 3
    if type(values[i]) == 'table' then
      w.borders, windows.text = values[i], string.gsub(text, ',%[[%d,]+%]', '')
      i = i + 1
    end
    if type(values[i]) == 'string' then
      w.scope, windows.own = values[i], {}
      i = i + 1
    end
    windows[#windows + 1] = w
    at = at + w.meter.size
  end
  for n = 1, windows.own and #windows or 0 do windows.own[n] = not windows[n].scope end
  windows.cells = at - 1
  return windows
end

local function fresh_cells(ids, windows)
  local cells = {ids}
  for i = 2, windows.cells do cells[i] = 0 end
  return cells
end

-- Returns the cell index of each id, and the next free index.
local function places_in(ids)
  local known, at = {}, 2
  for id in string.gmatch(ids, '[^,]+') do
    known[id] = at
    at = at + (string.sub(id, 1, 1) == 's' and sliding.size or fixed.size)
  end
  return known, at
end

-- Keeps counts of windows with the same kind, span and scope; others start at 0.
local function adopt_cells(old, ids, windows)
  local known = places_in(old[1])
  local cells, i = fresh_cells(ids, windows), 0
  for id in string.gmatch(ids, '[^,]+') do
    i = i + 1
    local from, w = known[id], windows[i]
    if from then
      for offset = 0, w.meter.size - 1 do cells[w.at + offset] = old[from + offset] end
    end
  end
  return cells
end

-- Adds missing windows to the cells, and sets `at` of each.
local function join_cells(cells, ids, windows)
  local known, at = places_in(cells[1])
  local i = 0
  for id in string.gmatch(ids, '[^,]+') do
    i = i + 1
    local w = windows[i]
    w.at = known[id] or at
    if not known[id] then
      cells[1] = cells[1] == '' and id or cells[1] .. ',' .. id
      for _ = 1, w.meter.size do
        cells[at] = 0
        at = at + 1
      end
    end
  end
end

-- Whether units were counted by a clock that has been set back.
local function correct_window_times(cells, windows, now)
  local corrected = false
  for i = 1, #windows do
    local w = windows[i]
    if w.meter.correct_times(cells, w, now) then corrected = true end
  end
  return corrected
end

local function windows_stale_at(cells, windows)
  local stale = 0
  for i = 1, #windows do
    local w = windows[i]
    stale = max(stale, w.meter.stale_at(cells, w))
  end
  return stale
end

-- Charges what a request has cost more than it was charged, or returns what it has cost less. Must equal settle in
-- src/limits/settlement.ts.
--
-- KEYS    [1] counters
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] escalation
--         for each window: units (negative: returned, 0: not counted), time when the units of the admission stop counting
-- Return  1 done, -1 the key holds other data

--- include rules/windows.lua
--- include rules/escalation.lua
--- include rules/counters.lua

local now = read_clock(ARGV[1])
local limits = read_limits(2, now)
local counters = read_counters(KEYS[1], limits)
if not counters then return -1 end
local cells, known, settled, i = counters.cells, places_in(counters.cells[1]), {}, 0
for id in string.gmatch(limits.ids, '[^,]+') do
  i = i + 1
  local w, units, ends = limits.windows[i], tonumber(ARGV[3 + 2 * i]), tonumber(ARGV[4 + 2 * i])
  w.at = known[id]
  if w.at and units ~= 0 then
    settled[#settled + 1] = w
    w.meter.correct_times(cells, w, now)
    if units > 0 then
      w.meter.charge(cells, w, units, now)
    elseif now < ends then
      w.meter.refund(cells, w, -units, now)
    end
  end
end
if #settled > 0 then
  counters.cells_changed, counters.opened = true, true
  counters.left = redis.call('PTTL', KEYS[1])
  save(counters, {windows = settled}, now)
end
return 1

-- Refunds used units. Notifies all gateways.
--
-- KEYS    [1] counters
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] escalation, [5] maximum units, [6] a digit per window (1: refund),
--         [7] channel, [8] message
-- Return  1 done, -1 the key holds other data

--- include rules/windows.lua
--- include rules/escalation.lua
--- include rules/counters.lua

local now = read_clock(ARGV[1])
local limits = read_limits(2, now)
local counters = open(KEYS[1], limits, now)
if not counters then return -1 end
for i, w in ipairs(limits.windows) do
  if string.sub(ARGV[6], i, i) == '1' then w.meter.refund(counters.cells, w, tonumber(ARGV[5]), now) end
end
if redis.call('EXISTS', KEYS[1]) == 1 then
  counters.cells_changed = true
  if counters.strike_state then
    end_wait(counters.strike_state)
    counters.waits, counters.waits_changed = {}, true
    counters.strike_state_changed = true
  end
  save(counters, limits, now)
end
redis.call('PUBLISH', ARGV[7], ARGV[8])
return 1

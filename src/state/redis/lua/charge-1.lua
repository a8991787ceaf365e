-- Adds what a gateway admitted during an outage. Each sum is added once, even if it is sent again.
-- Its limits may be outdated, while other gateways count in newer limits.
--
-- KEYS    [1] counters
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] escalation, [5] gateway, [6] increasing number of the sum,
--         [7] end of a ban or 0, [8] its start, [9] its window (0: unknown)
--         for each window: units, time when the gateway opened it
-- Return  1 added, 0 already added, -1 the key holds other data

--- include rules/windows.lua
--- include rules/escalation.lua
--- include rules/counters.lua

local now = read_clock(ARGV[1])
local limits = read_limits(2, now)
local counters = open_beside(KEYS[1], limits, now)
if not counters then return -1 end
local mark = 'd:' .. ARGV[5]
local known = redis.call('HGET', KEYS[1], mark)
if known and tonumber(known) >= tonumber(ARGV[6]) then return 0 end
redis.call('HSET', KEYS[1], mark, ARGV[6])

local cells = counters.cells
for i, w in ipairs(limits.windows) do
  local units, opened = tonumber(ARGV[8 + 2 * i]), tonumber(ARGV[9 + 2 * i])
  if units > 0 then
    -- A window not open in Redis takes the gateway's start, and may have expired since.
    local starts = (w.meter ~= sliding and w.meter.used(cells, w, now) == 0) and math.min(opened, now) or now
    if now < w.meter.end_from(w, starts) then w.meter.charge(cells, w, units, starts) end
  end
end
counters.cells_changed = true

-- A ban that begins in the future began now.
local banned_since = math.min(tonumber(ARGV[8]), now)
local banned_until = tonumber(ARGV[7]) - (tonumber(ARGV[8]) - banned_since)
if banned_until > now and ban_end(counters.strike_state, now) < banned_until then
  if not counters.strike_state then make_strike_state(counters, limits) end
  local window = limits.windows[tonumber(ARGV[9])]
  counters.ban = ban(counters.strike_state, escalation_of(limits), banned_until - now, window, now)
  counters.strike_state[BANNED_SINCE] = banned_since
  counters.strike_state_changed = true
end
-- The mark may have created the key.
counters.opened = true
save(counters, limits, now)
return 1

-- Adds what a gateway has admitted by itself while Redis was away. Each sum is added once, however often it is sent.
-- Its limits may have been replaced since, and other gateways count in newer ones already.
--
-- KEYS    [1] the subject's ledger
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] ladder, [5] gateway, [6] number of the sum, rising per gateway,
--         [7] end of a ban that began meanwhile or 0, [8] its begin, [9] the window it is for (0: not known),
--         then two for each window: units, when the gateway opened it
-- Answer  1 added, 0 known already, -1 the key holds no ledger

--- include rules/windows.lua
--- include rules/ladder.lua
--- include rules/ledger.lua

local now, limits = read_clock(ARGV[1]), read_limits(2)
local ledger = open_beside(KEYS[1], limits)
if not ledger then return -1 end
local mark = 'd:' .. ARGV[5]
local known = redis.call('HGET', KEYS[1], mark)
if known and tonumber(known) >= tonumber(ARGV[6]) then return 0 end
redis.call('HSET', KEYS[1], mark, ARGV[6])

local cells = ledger.cells
for i, w in ipairs(limits.windows) do
  local units, opened = tonumber(ARGV[8 + 2 * i]), tonumber(ARGV[9 + 2 * i])
  if units > 0 then
    -- A window that nobody opened in Redis is the one the gateway opened; it is over when that one is.
    local starts = (w.meter == fixed and not is_open(cells, w, now)) and opened or now
    if w.meter == sliding or now < starts + w.span then w.meter.charge(cells, w, units, starts) end
  end
end
ledger.cells_changed = true

local banned_until = tonumber(ARGV[7])
if banned_until > now and ban_end(ledger.conduct, now) < banned_until then
  if not ledger.conduct then make_conduct(ledger, limits) end
  ledger.ban = ban(ledger.conduct, banned_until - now, limits.windows[tonumber(ARGV[9])], now)
  ledger.ban[2] = math.min(tonumber(ARGV[8]), now)
  ledger.conduct_changed = true
end
-- The mark may have made the key just now, so its lifetime is always set.
ledger.opened = true
save(ledger, limits, now)
return 1

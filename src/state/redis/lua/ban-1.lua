-- Bans a subject and raises its ban level. Notifies all gateways.
--
-- KEYS    [1] counters
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] escalation, [5] duration in milliseconds, [6] channel, [7] message
-- Return  1; -1: the key holds other data

--- include rules/windows.lua
--- include rules/ladder.lua
--- include rules/ledger.lua

local now, limits = read_clock(ARGV[1]), read_limits(2)
local ledger = open(KEYS[1], limits)
if not ledger then return -1 end
if not ledger.conduct then make_conduct(ledger, limits) end
local conduct, ladder = ledger.conduct, ladder_of(limits)
if ladder then conduct[RUNG] = rung_at(conduct, ladder, now) end
ledger.ban = ban(conduct, tonumber(ARGV[5]), nil, now)
ledger.conduct_changed = true
save(ledger, limits, now)
redis.call('PUBLISH', ARGV[6], ARGV[7])
return 1

-- Reads the strike state; read-only.
--
-- KEYS    [1] counters
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] escalation
-- Return  {end of the ban or 0, ban level}; if banned: stored ban level, and if known: start, and kind, span, limit and
--         scope of the window

--- include rules/windows.lua
--- include rules/ladder.lua
--- include rules/ledger.lua

local now, limits = read_clock(ARGV[1]), read_limits(2)
local stored = redis.pcall('HMGET', KEYS[1], 'c', 'b')
if stored.err or not stored[1] then return {0, 0} end
local conduct, ladder = cmsgpack.unpack(stored[1]), ladder_of(limits)
local answer = {ban_end(conduct, now), ladder and rung_at(conduct, ladder, now) or 0}
if answer[1] == 0 then return answer end
answer[3] = conduct[RUNG]
local told = stored[2] and cmsgpack.unpack(stored[2]) or {}
if told[1] == answer[1] then
  for i = 2, #told do answer[2 + i] = told[i] end
end
return answer

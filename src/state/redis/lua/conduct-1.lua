-- Tells what refusals have left behind; changes nothing.
--
-- KEYS    [1] the subject's ledger
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] ladder
-- Answer  {end of the ban in force or 0, rung of the ladder}

--- include rules/windows.lua
--- include rules/ladder.lua
--- include rules/ledger.lua

local now, limits = read_clock(ARGV[1]), read_limits(2)
local stored = redis.pcall('HGET', KEYS[1], 'c')
if type(stored) ~= 'string' then return {0, 0} end
local conduct, ladder = cmsgpack.unpack(stored), ladder_of(limits)
return {ban_end(conduct, now), ladder and rung_at(conduct, ladder, now) or 0}

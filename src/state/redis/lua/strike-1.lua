-- Counts refusals that a gateway sent from its memory.
--
-- KEYS    [1] counters
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] escalation, [5] violated window (0: unknown),
--         [6…] times in Unix milliseconds, oldest first
-- Return  as look-1, then the ban level if a ban starts

--- include rules/windows.lua
--- include rules/ladder.lua
--- include rules/ledger.lua
--- include rules/standing.lua

local now, limits = read_clock(ARGV[1]), read_limits(2)
local ledger = open(KEYS[1], limits)
if not ledger then return {now, -1} end
local conduct, ladder, begins, noted = ledger.conduct, ladder_of(limits), false, false
if conduct and ladder then
  local window = limits.windows[tonumber(ARGV[5])]
  local refused, first = refused_by(ledger, window)
  for i = 6, #ARGV do
    local at = math.min(tonumber(ARGV[i]), now)
    -- Not a strike after a pardon, reset or ban, or after the retry time.
    if at < refused[first + 1] and at >= refused[first] + ladder.grace and ban_end(conduct, at) == 0 then
      begins = strike(conduct, ladder, window, at) or begins
      ledger.conduct_changed, noted = true, true
    end
  end
  ledger.ban = begins
  -- Otherwise these limits may be outdated.
  if noted then save(ledger, limits, now) end
end
local answer = {now, ban_end(conduct, now) > 0 and 2 or 0}
append_readings(answer, ledger, limits, now)
append_conduct(answer, ledger, limits, now, 0, 0, begins)
return answer

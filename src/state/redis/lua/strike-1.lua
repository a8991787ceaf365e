-- Takes note of refusals that a gateway has answered from its own memory.
--
-- KEYS    [1] the subject's ledger
-- ARGV    [1] now or '', [2] ids, [3] windows, [4] ladder, [5] the window that refused (0: not known),
--         [6…] when they were, Unix milliseconds, oldest first
-- Answer  as look-1, and at the end the rung of a ban that began with one of them

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
    -- Whoever was pardoned, reset or banned meanwhile, or may come again, has earned no strike.
    if at < refused[first + 1] and at >= refused[first] + ladder.grace and ban_end(conduct, at) == 0 then
      begins = strike(conduct, ladder, window, at) or begins
      ledger.conduct_changed, noted = true, true
    end
  end
  ledger.ban = begins
  -- Else these may be limits of before, and the ledger counts in newer ones.
  if noted then save(ledger, limits, now) end
end
local answer = {now, ban_end(conduct, now) > 0 and 2 or 0}
append_readings(answer, ledger, limits, now)
append_conduct(answer, ledger, limits, now, 0, 0, begins)
return answer

-- Appends how a subject stands: for each window what remains and when it resets.
local function append_readings(answer, ledger, limits, now)
  local cells, n = ledger.cells, #answer
  for i = 1, #limits.windows do
    local w = limits.windows[i]
    answer[n + 1] = max(0, w.limit - w.meter.used(cells, w, now))
    answer[n + 2] = w.meter.reset_at(cells, w, now)
    n = n + 2
  end
end

local function append_strikes(answer, ledger, limits, now)
  local ladder = ledger.conduct and ladder_of(limits)
  answer[#answer + 1] = ladder and recent_strikes(ledger.conduct, ladder, now) or 0
end

-- Appends what a refused or looked-at subject is told besides: violated window (0: none), when the request fits,
-- strikes, end of the ban, its rung if it begins with this (0: it does not).
local function append_conduct(answer, ledger, limits, now, violated, fits_at, ban_begins)
  answer[#answer + 1] = violated
  answer[#answer + 1] = fits_at
  append_strikes(answer, ledger, limits, now)
  answer[#answer + 1] = ban_end(ledger.conduct, now)
  answer[#answer + 1] = ban_begins and ledger.conduct[RUNG] or 0
end

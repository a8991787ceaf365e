-- Appends for each window: remaining, reset.
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

-- Appends violated window (0: none), retry time, strikes, end of the ban, ban level if a ban starts (0: none).
local function append_conduct(answer, ledger, limits, now, violated, fits_at, ban_begins)
  answer[#answer + 1] = violated
  answer[#answer + 1] = fits_at
  append_strikes(answer, ledger, limits, now)
  answer[#answer + 1] = ban_end(ledger.conduct, now)
  answer[#answer + 1] = ban_begins and ledger.conduct[RUNG] or 0
end

-- Appends for each window: used units, reset.
local function append_readings(reply, counters, limits, now)
  local cells, n = counters.cells, #reply
  for i = 1, #limits.windows do
    local w = limits.windows[i]
    reply[n + 1] = w.meter.used(cells, w, now)
    reply[n + 2] = w.meter.reset_at(cells, w, now)
    n = n + 2
  end
end

local function append_strikes(reply, counters, limits, now)
  local escalation = counters.strike_state and escalation_of(limits)
  reply[#reply + 1] = escalation and recent_strikes(counters.strike_state, escalation, now) or 0
end

-- Appends violated window (0: none), retry time, strikes, further refusals that are not strikes, end of the ban, ban
-- level if a ban starts (0: none).
local function append_strike_state(reply, counters, limits, now, violated, fits_at, free, ban_begins)
  reply[#reply + 1] = violated
  reply[#reply + 1] = fits_at
  append_strikes(reply, counters, limits, now)
  reply[#reply + 1] = free
  reply[#reply + 1] = ban_end(counters.strike_state, now)
  reply[#reply + 1] = ban_begins and counters.strike_state[BAN_LEVEL] or 0
end

-- Strikes, bans and ban escalation. Must equal ban-escalation.ts and counters.ts in src/limits, which give reasons; a
-- property test compares them.
-- Strike state is an array: limits of the refusal; the wait after it (begin, end, refusals); begin and end of the ban;
-- ban level; clean since; forgotten at; strikes (oldest first).
-- `waits` holds four values for each scope: scope, begin, end, refusals.

local LIMITS, WAIT, BANNED_SINCE, BANNED_UNTIL, BAN_LEVEL, CLEAN_SINCE, FORGOTTEN_AT, STRIKES = 1, 2, 5, 6, 7, 8, 9, 10

local function new_strike_state(limits)
  return {limits, 0, 0, 0, 0, 0, 0, 0, 0}
end

-- `[strikes, window, workers, least workers, grace, decay, first duration, …]`; '': none.
local function read_escalation(text)
  if text == '' then return nil end
  local n = cjson.decode(text)
  return {
    strikes = n[1], window = n[2], workers = n[3], min_workers = n[4], grace = n[5], decay = n[6],
    durations = {unpack(n, 7)},
  }
end

-- Refusals by this window in one wait that are not strikes. nil: an unknown limit.
local function free_in(escalation, window)
  local workers = escalation.workers
  return math.min(workers, max(escalation.min_workers, window and window.limit or workers))
end

local function level_at(strike_state, escalation, now)
  local clean = max(0, floor((now - strike_state[CLEAN_SINCE]) / escalation.decay))
  return max(0, strike_state[BAN_LEVEL] - clean)
end

local function forgotten_at(strike_state, escalation)
  if not escalation then return strike_state[CLEAN_SINCE] end
  return strike_state[CLEAN_SINCE] + max(escalation.window, strike_state[BAN_LEVEL] * escalation.decay)
end

local function recent_strikes(strike_state, escalation, now)
  local count = 0
  for i = STRIKES, #strike_state do
    if strike_state[i] > now - escalation.window then count = count + 1 end
  end
  return count
end

local function drop_old_strikes(strike_state, escalation, now)
  local kept = STRIKES
  for i = STRIKES, #strike_state do
    local at = strike_state[i]
    strike_state[i] = nil
    if at > now - escalation.window then
      strike_state[kept] = at
      kept = kept + 1
    end
  end
end

-- Returns the limit of the ban: kind, span, limit and scope of the window; empty if an operator set it.
local function ban(strike_state, escalation, length, window, now)
  if now >= strike_state[BANNED_UNTIL] then strike_state[BAN_LEVEL] = strike_state[BAN_LEVEL] + 1 end
  strike_state[BANNED_SINCE] = now
  strike_state[BANNED_UNTIL] = now + length
  for i = #strike_state, STRIKES, -1 do strike_state[i] = nil end
  strike_state[CLEAN_SINCE] = strike_state[BANNED_UNTIL]
  strike_state[FORGOTTEN_AT] = forgotten_at(strike_state, escalation)
  if not window then return {} end
  return {window.meter.code, window.span, window.limit, window.scope}
end

-- Returns the limit of the ban that starts, or false.
local function strike(strike_state, escalation, window, now)
  strike_state[BAN_LEVEL] = level_at(strike_state, escalation, now)
  strike_state[CLEAN_SINCE] = now
  drop_old_strikes(strike_state, escalation, now)
  strike_state[#strike_state + 1] = now
  strike_state[FORGOTTEN_AT] = forgotten_at(strike_state, escalation)
  if #strike_state - STRIKES + 1 < escalation.strikes then return false end
  local durations = escalation.durations
  local duration = durations[math.min(strike_state[BAN_LEVEL] + 1, #durations)]
  return ban(strike_state, escalation, duration, window, now)
end

-- Returns the index of a scope's wait; adds missing scopes.
local function place_in(waits, scope)
  for i = 1, #waits, 4 do
    if waits[i] == scope then return i + 1 end
  end
  local at = #waits + 1
  waits[at], waits[at + 1], waits[at + 2], waits[at + 3] = scope, 0, 0, 0
  return at + 1
end

-- Returns the limit of the ban that starts, or false. `list[at]` begins the wait of this window.
local function note_refusal(strike_state, escalation, window, retry_at, now, list, at)
  if now >= list[at + 1] then
    list[at], list[at + 1], list[at + 2] = now, retry_at, 1
    return false
  end
  list[at + 1] = math.min(list[at + 1], retry_at)
  if now < list[at] + escalation.grace then return false end
  list[at + 2] = list[at + 2] + 1
  return list[at + 2] > free_in(escalation, window) and strike(strike_state, escalation, window, now)
end

local function free_refusals(escalation, window, now, list, at)
  local free = free_in(escalation, window)
  if now >= list[at + 1] then return free end
  return max(0, free - list[at + 2])
end

local function ban_end(strike_state, now)
  if strike_state and strike_state[BANNED_UNTIL] > now then return strike_state[BANNED_UNTIL] end
  return 0
end

-- The wait by windows without a scope.
local function end_wait(strike_state)
  strike_state[WAIT], strike_state[WAIT + 1], strike_state[WAIT + 2] = 0, 0, 0
end

-- Whether a time was stored by a clock that has been set back. Does not correct the waits of scopes.
local function correct_strike_times(strike_state, now)
  local corrected = false
  for i = STRIKES, #strike_state do
    if strike_state[i] > now then strike_state[i], corrected = now, true end
  end
  local future = strike_state[BANNED_SINCE] - now
  if future > 0 then
    strike_state[BANNED_SINCE], corrected = now, true
    strike_state[BANNED_UNTIL] = strike_state[BANNED_UNTIL] - future
  end
  local excess = strike_state[CLEAN_SINCE] - max(now, strike_state[BANNED_UNTIL])
  if excess > 0 then
    strike_state[CLEAN_SINCE], corrected = strike_state[CLEAN_SINCE] - excess, true
    strike_state[FORGOTTEN_AT] = strike_state[FORGOTTEN_AT] - excess
  end
  return corrected
end

local function strike_state_stale_at(strike_state)
  return max(strike_state[WAIT + 1], strike_state[BANNED_UNTIL], strike_state[FORGOTTEN_AT])
end

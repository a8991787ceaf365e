-- Strikes, bans and ban escalation. Must equal ban-escalation.ts in src/limits; a property test compares them.
-- Strike state is an array: limits of the refusal, refused at, refused until, banned until, ban level, clean since,
-- strikes (oldest first). `refusals` holds three values for each scope: scope, refused at, refused until.

local LIMITS, REFUSED_AT, REFUSED_UNTIL, BANNED_UNTIL, BAN_LEVEL, CLEAN_SINCE, STRIKES = 1, 2, 3, 4, 5, 6, 7

local function new_strike_state(limits)
  return {limits, 0, 0, 0, 0, 0}
end

-- `[strikes, within, grace, forget, first length, …]`; '': none.
local function read_escalation(text)
  if text == '' then return nil end
  local n = cjson.decode(text)
  return {strikes = n[1], within = n[2], grace = n[3], forget = n[4], lengths = {unpack(n, 5)}}
end

local function level_at(strike_state, escalation, now)
  local clean = max(0, floor((now - strike_state[CLEAN_SINCE]) / escalation.forget))
  return max(0, strike_state[BAN_LEVEL] - clean)
end

local function recent_strikes(strike_state, escalation, now)
  local count = 0
  for i = STRIKES, #strike_state do
    if strike_state[i] > now - escalation.within then count = count + 1 end
  end
  return count
end

local function drop_old_strikes(strike_state, escalation, now)
  local kept = STRIKES
  for i = STRIKES, #strike_state do
    local at = strike_state[i]
    strike_state[i] = nil
    if at > now - escalation.within then
      strike_state[kept] = at
      kept = kept + 1
    end
  end
end

-- Returns details of the ban: end, start, and unless an operator set it, the window's kind, span, limit and scope.
local function ban(strike_state, length, window, now)
  strike_state[BANNED_UNTIL] = now + length
  strike_state[BAN_LEVEL] = strike_state[BAN_LEVEL] + 1
  for i = #strike_state, STRIKES, -1 do strike_state[i] = nil end
  strike_state[CLEAN_SINCE] = strike_state[BANNED_UNTIL]
  if not window then return {strike_state[BANNED_UNTIL], now} end
  return {strike_state[BANNED_UNTIL], now, window.meter == fixed and 0 or 1, window.span, window.limit, window.scope}
end

-- Returns details of the ban that starts, or false.
local function strike(strike_state, escalation, window, now)
  strike_state[BAN_LEVEL] = level_at(strike_state, escalation, now)
  strike_state[CLEAN_SINCE] = now
  drop_old_strikes(strike_state, escalation, now)
  strike_state[#strike_state + 1] = now
  if #strike_state - STRIKES + 1 < escalation.strikes then return false end
  return ban(strike_state, escalation.lengths[math.min(strike_state[BAN_LEVEL] + 1, #escalation.lengths)], window, now)
end

-- Returns the index of a scope's refusal time; adds missing scopes.
local function place_in(refusals, scope)
  for i = 1, #refusals, 3 do
    if refusals[i] == scope then return i + 1 end
  end
  local at = #refusals + 1
  refusals[at], refusals[at + 1], refusals[at + 2] = scope, 0, 0
  return at + 1
end

-- Returns details of the ban that starts, or false. `refused[at]` is the first refusal of that limit, `refused[at + 1]`
-- its retry time.
local function note_refusal(strike_state, escalation, window, retry_at, now, refused, at)
  if now >= refused[at + 1] then
    refused[at] = now
    refused[at + 1] = retry_at
    return false
  end
  if now < refused[at] + escalation.grace then return false end
  return strike(strike_state, escalation, window, now)
end

local function ban_end(strike_state, now)
  if strike_state and strike_state[BANNED_UNTIL] > now then return strike_state[BANNED_UNTIL] end
  return 0
end

local function strike_state_stale_at(strike_state, escalation)
  local memory = escalation and max(escalation.within, strike_state[BAN_LEVEL] * escalation.forget) or 0
  return max(strike_state[REFUSED_UNTIL], strike_state[BANNED_UNTIL], strike_state[CLEAN_SINCE] + memory)
end

-- Strikes, bans and ban escalation. Must equal ban-escalation.ts in src/limits; a property test compares them.
-- Strike state is an array: limits of the refusal, refused at, refused until, banned until, ban level, clean since,
-- strikes (oldest first). `told` holds three values for each scope: scope, refused at, refused until.

local LIMITS, REFUSED_AT, REFUSED_UNTIL, BANNED_UNTIL, RUNG, CLEAN_SINCE, STRIKES = 1, 2, 3, 4, 5, 6, 7

local function new_conduct(limits)
  return {limits, 0, 0, 0, 0, 0}
end

-- `[strikes, within, grace, forget, first length, …]`; '': none.
local function read_ladder(text)
  if text == '' then return nil end
  local n = cjson.decode(text)
  return {strikes = n[1], within = n[2], grace = n[3], forget = n[4], lengths = {unpack(n, 5)}}
end

local function rung_at(conduct, ladder, now)
  local clean = max(0, floor((now - conduct[CLEAN_SINCE]) / ladder.forget))
  return max(0, conduct[RUNG] - clean)
end

local function recent_strikes(conduct, ladder, now)
  local count = 0
  for i = STRIKES, #conduct do
    if conduct[i] > now - ladder.within then count = count + 1 end
  end
  return count
end

local function drop_old_strikes(conduct, ladder, now)
  local kept = STRIKES
  for i = STRIKES, #conduct do
    local at = conduct[i]
    conduct[i] = nil
    if at > now - ladder.within then
      conduct[kept] = at
      kept = kept + 1
    end
  end
end

-- Returns details of the ban: end, start, and unless an operator set it, the window's kind, span, limit and scope.
local function ban(conduct, length, window, now)
  conduct[BANNED_UNTIL] = now + length
  conduct[RUNG] = conduct[RUNG] + 1
  for i = #conduct, STRIKES, -1 do conduct[i] = nil end
  conduct[CLEAN_SINCE] = conduct[BANNED_UNTIL]
  if not window then return {conduct[BANNED_UNTIL], now} end
  return {conduct[BANNED_UNTIL], now, window.meter == fixed and 0 or 1, window.span, window.limit, window.scope}
end

-- Returns details of the ban that starts, or false.
local function strike(conduct, ladder, window, now)
  conduct[RUNG] = rung_at(conduct, ladder, now)
  conduct[CLEAN_SINCE] = now
  drop_old_strikes(conduct, ladder, now)
  conduct[#conduct + 1] = now
  if #conduct - STRIKES + 1 < ladder.strikes then return false end
  return ban(conduct, ladder.lengths[math.min(conduct[RUNG] + 1, #ladder.lengths)], window, now)
end

-- Returns the index of a scope's refusal time; adds missing scopes.
local function place_in(told, scope)
  for i = 1, #told, 3 do
    if told[i] == scope then return i + 1 end
  end
  local at = #told + 1
  told[at], told[at + 1], told[at + 2] = scope, 0, 0
  return at + 1
end

-- Returns details of the ban that starts, or false. `refused[at]` is the first refusal of that limit, `refused[at + 1]`
-- its retry time.
local function note_refusal(conduct, ladder, window, retry_at, now, refused, at)
  if now >= refused[at + 1] then
    refused[at] = now
    refused[at + 1] = retry_at
    return false
  end
  if now < refused[at] + ladder.grace then return false end
  return strike(conduct, ladder, window, now)
end

local function ban_end(conduct, now)
  if conduct and conduct[BANNED_UNTIL] > now then return conduct[BANNED_UNTIL] end
  return 0
end

local function conduct_stale_at(conduct, ladder)
  local memory = ladder and max(ladder.within, conduct[RUNG] * ladder.forget) or 0
  return max(conduct[REFUSED_UNTIL], conduct[BANNED_UNTIL], conduct[CLEAN_SINCE] + memory)
end

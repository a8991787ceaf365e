-- Times of an outbox are those of Redis, because the clocks of gateways differ. Requires clock.lua.

-- Milliseconds between two notes of the clock, and how far it may fall behind a note without being set back.
local NOTE_INTERVAL, JITTER = 10000, 1000

-- Returns the time, and what to add to a time of the caller. `decides`: '1' if its clock decides, for tests.
local function read_times(of_caller, decides)
  local now = decides == '1' and tonumber(of_caller) or clock()
  return now, now - of_caller
end

-- After the clock was set back, brings everything that waits forward by as much: it waits as long as it was to wait.
local function follow_clock(due, state, now)
  local noted = tonumber(redis.call('HGET', state, 'clock'))
  if noted and now < noted - JITTER then
    local back = string.format('%.0f', now - noted)
    for _, number in ipairs(redis.call('ZRANGE', due, 0, -1)) do redis.call('ZINCRBY', due, back, number) end
    if redis.call('HEXISTS', state, 'paused') == 1 then redis.call('HINCRBY', state, 'paused', back) end
  elseif noted and now < noted + NOTE_INTERVAL then
    return
  end
  redis.call('HSET', state, 'clock', now)
end

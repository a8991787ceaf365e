-- Resets all windows; a ban stays. Notifies all gateways.
--
-- KEYS    [1] counters
-- ARGV    [1] channel, [2] message
-- Return  1

--- include rules/windows.lua
--- include rules/escalation.lua

local cells, strike_state = unpack(redis.call('HMGET', KEYS[1], 'w', 's'))
if strike_state then
  strike_state = cmsgpack.unpack(strike_state)
  end_wait(strike_state)
  redis.call('HSET', KEYS[1], 's', cmsgpack.pack(strike_state))
  redis.call('HDEL', KEYS[1], 'v')
end
if cells then redis.call('HDEL', KEYS[1], 'w') end
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1

-- Resets all windows; a ban stays. Notifies all gateways.
--
-- KEYS    [1] counters
-- ARGV    [1] channel, [2] message
-- Return  1

--- include rules/windows.lua
--- include rules/ladder.lua

local cells, conduct = unpack(redis.call('HMGET', KEYS[1], 'w', 'c'))
if conduct then
  conduct = cmsgpack.unpack(conduct)
  conduct[REFUSED_UNTIL] = 0
  redis.call('HSET', KEYS[1], 'c', cmsgpack.pack(conduct))
  redis.call('HDEL', KEYS[1], 'r')
end
if cells then redis.call('HDEL', KEYS[1], 'w') end
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1

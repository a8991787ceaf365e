-- Adds to a counter of rate-limiter-flexible. Its own script would keep a counter for as long as the clock was set back.
--
-- KEYS    [1] counter
-- ARGV    [1] points, [2] seconds
-- Return  points of the counter, milliseconds until it ends

redis.call('SET', KEYS[1], 0, 'EX', ARGV[2], 'NX')
local points = redis.call('INCRBY', KEYS[1], ARGV[1])
local left, span = redis.call('PTTL', KEYS[1]), 1000 * ARGV[2]
if left < 0 or left > span then
  redis.call('PEXPIRE', KEYS[1], span)
  left = span
end
return { points, left }

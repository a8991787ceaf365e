-- Stores sums of usage, or removes those without content, and removes the parts that they contain,
-- if this gateway still has the turn.
--
-- KEYS    [1] turn  [2] parts  [3] parts that sums contain  [4] bytes of sums by name  [i] each sum
-- ARGV    [1] token of the turn  [2] lifetime of [3] in milliseconds  a name and a content per sum;
--         then a name and requests per part; without requests its process is done with it
-- Return  1, or 0 if another gateway has the turn

-- All of them may be more than Lua can unpack.
local turn, parts, taken, sizes = unpack(KEYS, 1, 4)
if redis.call('GET', turn) ~= ARGV[1] then return 0 end
local at = 3
for i = 5, #KEYS do
  local name, content = ARGV[at], ARGV[at + 1]
  if content == '' then
    redis.call('DEL', KEYS[i])
    redis.call('HDEL', sizes, name)
  else
    redis.call('SET', KEYS[i], content)
    redis.call('HSET', sizes, name, #content)
  end
  at = at + 2
end
for i = at, #ARGV, 2 do
  redis.call('HDEL', parts, ARGV[i])
  if ARGV[i + 1] ~= '' then
    redis.call('HSET', taken, ARGV[i], ARGV[i + 1])
    redis.call('PEXPIRE', taken, ARGV[2])
  end
end
return 1

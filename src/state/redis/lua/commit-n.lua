-- Stores blocks of the ledger, or removes those without content, and removes slices that they
-- contain, if this gateway still has the turn.
-- KEYS     the turn, the slices, the sizes, then each block [i]
-- ARGV     the token of the turn; a name and a content per block; names of slices
-- Returns  1, or 0 if another gateway has the turn
local turn, slices, sizes = unpack(KEYS)
if redis.call('GET', turn) ~= ARGV[1] then
  return 0
end
local at = 2
for i = 4, #KEYS do
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
while at <= #ARGV do
  redis.call('HDEL', slices, ARGV[at])
  at = at + 1
end
return 1

-- Reads a page of a list of keys, oldest or newest first.
--
-- KEYS    [1] ids by creation
-- ARGV    [1] id before the page ('': none), even if it is not in the list, [2] its creation, [3] size,
--         [4] 1: newest first
-- Return  ids and creations, alternating

local list, last, created, size = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local is_newest_first = ARGV[4] == '1'
local read = is_newest_first and 'ZREVRANGE' or 'ZRANGE'

-- Byte by byte, as Redis sorts; `<` depends on the locale.
local function is_less(one, other)
  for i = 1, math.min(#one, #other) do
    local a, b = string.byte(one, i), string.byte(other, i)
    if a ~= b then return a < b end
  end
  return #one < #other
end

local function is_after(id)
  if is_newest_first then return is_less(id, last) end
  return is_less(last, id)
end

-- Ids of one moment are sorted.
local function first_after()
  local before = is_newest_first and { '(' .. created, '+inf' } or { '-inf', '(' .. created }
  local low = redis.call('ZCOUNT', list, unpack(before))
  local high = low + redis.call('ZCOUNT', list, created, created)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if is_after(redis.call(read, list, middle, middle)[1]) then high = middle else low = middle + 1 end
  end
  return low
end

local first = last == '' and 0 or first_after()
return redis.call(read, list, first, first + size - 1, 'WITHSCORES')

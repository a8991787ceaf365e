-- Appends an entry to a log, or to several, and drops their oldest ones beyond the bounds. Numbers stay: what was dropped is
-- counted.
--
-- KEYS    [i] for each log its entries, oldest first, [i + 1] how many were dropped before them
-- ARGV    [1] the entry, [2] how many to drop at the most: a bound that was lowered is reached later
--         then for each log: how many to keep, and the time of the oldest to keep, Unix milliseconds ('': any)
-- Answer  the entry's number in the first log

-- To tell the age of an entry takes reading it, so only some go with each one that comes.
local READ_AT_ONCE = 50

local function too_old(entry, since)
  local at = cjson.decode(entry).at
  return type(at) == 'number' and at < since
end

local function append(entries, dropped, keep, since)
  local size = redis.call('LLEN', entries) + 1
  local over = math.max(0, math.min(size - keep, tonumber(ARGV[2])))
  if since then
    for _, entry in ipairs(redis.call('LRANGE', entries, over, over + READ_AT_ONCE - 1)) do
      if not too_old(entry, since) then break end
      over = over + 1
    end
  end
  local gone = redis.call('INCRBY', dropped, over)
  redis.call('RPUSH', entries, ARGV[1])
  if over > 0 then redis.call('LTRIM', entries, over, -1) end
  return gone + size - over
end

local number
for i = 1, #KEYS, 2 do
  local answer = append(KEYS[i], KEYS[i + 1], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3]))
  number = number or answer
end
return number

-- Appends an entry to logs and drops their oldest entries beyond the bounds. Numbers stay: dropped entries are counted.
--
-- KEYS    [i] for each log: entries, oldest first; number of dropped entries
-- ARGV    [1] entry, [2] maximum entries to drop at once
--         for each log: entries to keep, milliseconds that an entry is kept ('': any)
-- Return  number of the entry in the first log

--- include rules/clock.lua

-- Bounds each call, because the age of an entry requires decoding.
local READ_AT_ONCE = 50

local function time_of(entry)
  local at = cjson.decode(entry).at
  return type(at) == 'number' and at or nil
end

local now = time_of(ARGV[1]) or 0
-- An entry of a clock that is ahead removes nothing.
local passed = math.min(now, clock())

local function append(entries, dropped, keep, age)
  local since = age and passed - age
  local size = redis.call('LLEN', entries) + 1
  local drop
  local over = math.max(0, math.min(size - keep, tonumber(ARGV[2])))
  if since then
    -- Entries of a clock that was ahead are as old as the next entry.
    for i, entry in ipairs(redis.call('LRANGE', entries, over, over + READ_AT_ONCE - 1)) do
      local at = time_of(entry)
      if not at or (at >= since and at <= now) then break end
      if at < since then drop = over + i end
    end
    over = math.max(over, drop or 0)
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

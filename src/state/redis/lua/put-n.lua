-- Writes missing counters.
--
-- KEYS    [i] counters
-- ARGV    six for each: their expiry in Unix milliseconds; ids; cells; limits of the strike state; strike state or ''; limit
--         of the ban or ''. Cells, strike state and ban: JSON lists.
-- Return  for each: 1

-- Milliseconds; exceeds clock jitter.
local MARGIN = 1000

local function packed(first, text)
  local list = cjson.decode(text)
  if first then table.insert(list, 1, first) end
  return cmsgpack.pack(list)
end

local reply = {}
for i = 1, #KEYS do
  local key = KEYS[i]
  local expiry, ids, cells, limits, strike_state, ban = unpack(ARGV, 6 * i - 5, 6 * i)
  redis.call('HSET', key, 'w', packed(ids, cells))
  if strike_state ~= '' then redis.call('HSET', key, 's', packed(limits, strike_state)) end
  if ban ~= '' then redis.call('HSET', key, 'l', packed(nil, ban)) end
  redis.call('PEXPIREAT', key, string.format('%.0f', expiry + MARGIN))
  reply[i] = 1
end
return reply

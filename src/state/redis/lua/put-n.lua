-- Replaces counters if they have not changed since they were read.
--
-- KEYS    [i] counters
-- ARGV    seven for each: digest of the required counters ('': none); their expiry in Unix milliseconds; ids; cells;
--         limits of the strike state; strike state or ''; limit of the ban or ''. Cells, strike state and ban: JSON lists.
-- Return  for each: '1' done; otherwise the unchanged counters, see rules/plain.lua

--- include rules/plain.lua

-- Milliseconds; exceeds clock jitter.
local MARGIN = 1000

local function packed(first, text)
  local list = cjson.decode(text)
  if first then table.insert(list, 1, first) end
  return cmsgpack.pack(list)
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answer = {}

for i = 1, #KEYS do
  local key = KEYS[i]
  local expected, until_, ids, cells, limits, strike_state, ban = unpack(ARGV, 7 * i - 6, 7 * i)
  local stored = stored_fields(key)
  if not stored or digest_of(stored) ~= expected then
    answer[i] = plain(stored)
  else
    -- Another ban escalation may require a longer lifetime.
    local left = redis.call('PTTL', key)
    redis.call('HSET', key, 'w', packed(ids, cells))
    redis.call('HDEL', key, 'v', 'l')
    if strike_state ~= '' then redis.call('HSET', key, 's', packed(limits, strike_state)) end
    if ban ~= '' then redis.call('HSET', key, 'l', packed(nil, ban)) end
    redis.call('PEXPIRE', key, string.format('%.0f', math.max(left, until_ - now, 0) + MARGIN))
    answer[i] = '1'
  end
end
return answer

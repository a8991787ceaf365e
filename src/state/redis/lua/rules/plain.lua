-- Counters as text, for storage elsewhere. Must match redis-counters.ts in records/transfer.

-- Exact up to 2^53; cjson and replies would round large integers.
local function numbers(list, from)
  local texts = {}
  for i = from, #list do texts[#texts + 1] = type(list[i]) == 'string' and list[i] or string.format('%.0f', list[i]) end
  return table.concat(texts, ',')
end

-- nil: the key holds other data.
local function stored_fields(key)
  local stored = redis.pcall('HMGET', key, 'w', 's', 'l')
  if stored.err then return nil end
  return stored
end

-- Returns '' if missing, '-' for other data, or five lines: ids, cells, limits of the strike state, its numbers, limit of
-- the ban.
local function plain(stored)
  if not stored then return '-' end
  if not stored[1] and not stored[2] then return '' end
  local good, text = pcall(function()
    local cells = stored[1] and cmsgpack.unpack(stored[1]) or {''}
    local strike_state = stored[2] and cmsgpack.unpack(stored[2]) or {''}
    local ban = stored[2] and stored[3] and cmsgpack.unpack(stored[3]) or {}
    return table.concat({cells[1], numbers(cells, 2), strike_state[1], numbers(strike_state, 2), numbers(ban, 1)}, '\n')
  end)
  return good and text or '-'
end

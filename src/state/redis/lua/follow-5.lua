-- Reads what was appended to the log of records after a position, with the records as they are now.
--
-- KEYS    [1] head, [2] records of keys by id, [3] tokens by name, [4] audit log, [5] ban log
-- ARGV    [1] id of the last known entry of the audit log, [2] of the ban log; '0-0': none;
--         [3] maximum entries of each log, [4] maximum records
-- Return  epoch or nothing; entries of the audit log, or nothing if the known entry is missing; entries of the ban log
--         alike; ids and records of keys; tokens by name, or nothing if they are unchanged; oldest ids of both logs

local head, records, tokens = unpack(KEYS, 1, 3)

-- A write that changes nothing: a replica, which may lack entries, refuses it.
redis.call('PERSIST', head)

local function number_of(id) return tonumber(string.match(id, '^%d+')) end

local function after(log, name, id)
  local found = redis.call('XRANGE', log, id, '+', 'COUNT', ARGV[3] + 1)
  local first = found[1] and found[1][1]
  if not first then
    -- Without any entry the log goes on after the last number.
    local is_last = number_of(id) == tonumber(redis.call('HGET', head, name) or 0)
    return is_last and redis.call('XLEN', log) == 0 and found
  end
  if first == id then
    table.remove(found, 1)
    return found
  end
  -- The position of an empty log names no entry.
  local is_next = string.match(id, '%-0$') and number_of(first) == number_of(id) + 1
  return is_next and found or false
end

local function oldest(log)
  local found = redis.call('XRANGE', log, '-', '+', 'COUNT', 1)
  return found[1] and found[1][1] or false
end

local audit = after(KEYS[4], 'audit', ARGV[1])
local ids, changed, are_tokens = {}, {}, false
for n, one in ipairs(audit or {}) do
  local fields = one[2]
  if fields[3] == 'keys' then
    -- A later call reads the others.
    if n > 1 and #ids >= tonumber(ARGV[4]) then
      while audit[n] do table.remove(audit) end
      break
    end
    for id in string.gmatch(fields[4], '%S+') do
      if not changed[id] then ids[#ids + 1] = id end
      changed[id] = true
    end
  end
  are_tokens = are_tokens or fields[3] == 'token'
end

local found = {}
for _, id in ipairs(ids) do
  local record = redis.call('HGET', records, id)
  if record then
    found[#found + 1] = id
    found[#found + 1] = record
  end
end

return {
  redis.call('HGET', head, 'epoch'),
  audit,
  after(KEYS[5], 'bans', ARGV[2]),
  found,
  are_tokens and redis.call('HVALS', tokens),
  oldest(KEYS[4]),
  oldest(KEYS[5]),
}

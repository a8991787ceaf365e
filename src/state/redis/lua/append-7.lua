-- Appends an entry to the log of records, with the records that it changes: everything or nothing.
--
-- KEYS    [1] head, [2] records of keys by id, [3] ids by hash, [4] tokens by name, [5] audit log, [6] ban log,
--         [7] result of the call
-- ARGV    [1] epoch, [2] channel, [3] entry, [4] second part of its id, [5] result or '', [6] lifetime of the result,
--         [7] entries of the audit log to keep or '' (not in it), [8] entries of the ban log to keep or '',
--         [9] milliseconds that they are kept, [10] maximum entries to drop at once
--         for each changed key: id, version before or '' (new), hash, previous hash or '', record
--         for a token: its name, 'token', record or '' (removed)
-- Return  number of the entry in the audit log, else in the ban log; or why nothing was changed: 'epoch', 'again',
--         'taken', 'unknown', 'changed', 'broken', 'token'

--- include rules/clock.lua

local head, records, hashes, tokens = unpack(KEYS, 1, 4)
local entry, call = ARGV[3], KEYS[7]

-- The first write changes nothing: a replica, which may lack entries, refuses it before it refuses a change. Redis checks
-- its memory only at this write: if it is full, it refuses new keys and tokens, and takes a revocation.
local adds = ARGV[12] == '' or (ARGV[12] == 'token' and ARGV[13] ~= '')
if redis.call('HGET', head, 'epoch') ~= ARGV[1] then
  redis.call('PERSIST', head)
  return 'epoch'
end
if adds then redis.call('HSETNX', head, 'epoch', ARGV[1]) else redis.call('PERSIST', head) end

if ARGV[5] ~= '' and redis.call('EXISTS', call) == 1 then
  -- After the clock was set back, it would live longer by as much.
  if redis.call('PTTL', call) > tonumber(ARGV[6]) then redis.call('PEXPIRE', call, ARGV[6]) end
  return 'again'
end

local keys, owners, known, token = {}, {}, {}, nil

-- Returns why a key cannot be changed so.
local function refusal(key)
  local stored = redis.call('HGET', records, key.id)
  if key.version == '' then
    if stored or known[key.id] then return 'taken' end
  else
    if not stored then return 'unknown' end
    local valid, before = pcall(cjson.decode, stored)
    if not valid or type(before) ~= 'table' then return 'broken' end
    if before.version ~= tonumber(key.version) then return 'changed' end
    key.old = { before.hash, type(before.previous) == 'table' and before.previous.hash or nil }
    for _, hash in ipairs(key.old) do
      if type(hash) ~= 'string' then return 'broken' end
    end
  end
  local owner = owners[key.hash] or redis.call('HGET', hashes, key.hash)
  if owner and owner ~= key.id then return 'taken' end
end

local i = 11
while ARGV[i] do
  if ARGV[i + 1] == 'token' then
    token = { name = ARGV[i], record = ARGV[i + 2] }
    if redis.call('HEXISTS', tokens, token.name) == (token.record == '' and 0 or 1) then return 'token' end
    i = i + 3
  else
    local id, version, hash, previous, record = unpack(ARGV, i, i + 4)
    local key = { id = id, version = version, hash = hash, previous = previous, record = record }
    local why = refusal(key)
    if why then return why end
    owners[hash], known[id] = id, true
    keys[#keys + 1] = key
    i = i + 5
  end
end

local ids = {}
for n, key in ipairs(keys) do ids[n] = key.id end

-- Bounds each call, because the age of an entry requires decoding.
local READ_AT_ONCE = 50

local function time_of(text)
  local valid, one = pcall(cjson.decode, text)
  local at = valid and type(one) == 'table' and one.at
  return type(at) == 'number' and at or nil
end

-- An entry of a clock that is ahead removes nothing.
local at = time_of(entry) or 0
local passed = math.min(at, clock())

-- The number of the oldest entries that are too old. Entries of a clock that was ahead are as old as the next entry.
local function old_in(log, age)
  local old = 0
  for n, one in ipairs(redis.call('XRANGE', log, '-', '+', 'COUNT', READ_AT_ONCE)) do
    local time = time_of(one[2][2])
    if not time or (time >= passed - age and time <= at) then break end
    if time < passed - age then old = n end
  end
  return old
end

local function append(log, name, keep, age)
  local number = redis.call('HINCRBY', head, name, 1)
  local fields = { 'entry', entry }
  if #ids > 0 then
    fields[3], fields[4] = 'keys', table.concat(ids, ' ')
  elseif token then
    fields[3], fields[4] = 'token', token.name
  end
  local size = redis.call('XLEN', log)
  local drop = math.max(size + 1 - keep, age and old_in(log, age) or 0)
  drop = math.min(drop, tonumber(ARGV[10]))
  if drop > 0 then redis.call('XTRIM', log, 'MAXLEN', math.max(0, size - drop)) end
  redis.call('XADD', log, number .. '-' .. ARGV[4], unpack(fields))
  return number
end

local of_audit = ARGV[7] ~= '' and append(KEYS[5], 'audit', tonumber(ARGV[7]))
local of_bans = ARGV[8] ~= '' and append(KEYS[6], 'bans', tonumber(ARGV[8]), tonumber(ARGV[9]))

-- Last: if Redis refuses to write an entry, nothing changes without one.
local message = 'l:' .. (of_audit or '')
for _, key in ipairs(keys) do
  for _, hash in ipairs(key.old or {}) do
    if hash ~= key.hash and hash ~= key.previous then redis.call('HDEL', hashes, hash) end
    message = message .. ' ' .. hash
  end
  redis.call('HSET', records, key.id, key.record)
  redis.call('HSET', hashes, key.hash, key.id)
  if key.previous ~= '' then redis.call('HSET', hashes, key.previous, key.id) end
end
if token and token.record == '' then redis.call('HDEL', tokens, token.name) end
if token and token.record ~= '' then redis.call('HSET', tokens, token.name, token.record) end

if ARGV[5] ~= '' then redis.call('SET', call, ARGV[5], 'PX', ARGV[6]) end
if of_audit then redis.call('PUBLISH', ARGV[2], message) end
return of_audit or of_bans

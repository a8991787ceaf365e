-- Finds keys by the hashes of their secrets, or by their ids.
--
-- KEYS    [1] head, [2] records of keys by id, [3] ids by hash
-- ARGV    [1] 'hash' or 'id'; hashes or ids
-- Return  epoch or nothing; records, nothing for an unknown key

-- A write that changes nothing: a replica, which may lack keys, refuses it.
redis.call('PERSIST', KEYS[1])

local found = { redis.call('HGET', KEYS[1], 'epoch') }
for i = 2, #ARGV do
  local id = ARGV[i]
  if ARGV[1] == 'hash' then id = redis.call('HGET', KEYS[3], id) end
  found[i] = id and redis.call('HGET', KEYS[2], id)
end
return found

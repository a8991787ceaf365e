-- Replaces a key's record by a new version.
--
-- KEYS    [1] record
-- ARGV    [1] required version; '': any older version, [2] new record
-- Return  1 done, 0 missing, -1 another version

local stored = redis.call('GET', KEYS[1])
if not stored then return 0 end
local version = cjson.decode(stored).version or 1
if ARGV[1] == '' and version >= cjson.decode(ARGV[2]).version then return -1 end
if ARGV[1] ~= '' and version ~= tonumber(ARGV[1]) then return -1 end
redis.call('SET', KEYS[1], ARGV[2])
return 1

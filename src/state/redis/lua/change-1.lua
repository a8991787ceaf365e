-- Puts a new version of a key's record in the place of the one before it.
--
-- KEYS    [1] the record
-- ARGV    [1] the version that must be there, or '' for any older one, [2] the new record
-- Answer  1 done, 0 there is no record, -1 another version is there

local stored = redis.call('GET', KEYS[1])
if not stored then return 0 end
local version = cjson.decode(stored).version or 1
if ARGV[1] == '' and version >= cjson.decode(ARGV[2]).version then return -1 end
if ARGV[1] ~= '' and version ~= tonumber(ARGV[1]) then return -1 end
redis.call('SET', KEYS[1], ARGV[2])
return 1

-- Reads counters; read-only.
--
-- KEYS    [i] counters
-- ARGV    none
-- Return  a text for each, see rules/plain.lua

--- include rules/plain.lua

local reply = {}
for i = 1, #KEYS do reply[i] = plain(stored_fields(KEYS[i])) end
return reply

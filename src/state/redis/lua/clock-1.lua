-- Reads the clock of the node that has a key.
--
-- KEYS    [1] any key
-- ARGV    none
-- Return  Unix milliseconds

--- include rules/clock.lua

return clock()

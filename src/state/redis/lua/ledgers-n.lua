-- Tells all that ledgers hold; changes nothing.
--
-- KEYS    [i] the ledger of a subject
-- ARGV    none
-- Answer  for each a text, see rules/plain.lua

--- include rules/plain.lua

local answer = {}
for i = 1, #KEYS do answer[i] = plain(stored_fields(KEYS[i])) end
return answer

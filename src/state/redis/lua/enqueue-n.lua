-- Adds an event for all its receivers, unless somebody has told it before.
--
-- KEYS    [i] first the names that are remembered, by their end; when each was told; how many jobs there ever were;
--         then for each receiver four: its jobs by when they are due; by when they came; what they are; how it stands
-- ARGV    now, Unix milliseconds; name; told before this moment it is another event; until when to remember the name; a name
--         to forget or ''; how many names to remember; how many jobs of a receiver to keep; lifetime of the jobs; the job
-- Answer  how many jobs were dropped to make room; or nothing: it was told before

local now, name, since, until_, ends, most_names, most, life, job = unpack(ARGV, 1, 9)
local names, told, counter = unpack(KEYS, 1, 3)
local moment = tonumber(now)

local at = tonumber(redis.call('HGET', told, name) or '-1')
if at >= tonumber(since) and tonumber(redis.call('ZSCORE', names, name) or '-1') >= moment then return false end

local function forget(old)
  if #old == 0 then return end
  redis.call('ZREM', names, unpack(old))
  redis.call('HDEL', told, unpack(old))
end

forget(redis.call('ZRANGEBYSCORE', names, '-inf', '(' .. now, 'LIMIT', 0, 100))
local over = redis.call('ZCARD', names) - tonumber(most_names) + 1
if over > 0 then forget(redis.call('ZRANGE', names, 0, math.min(over, 100) - 1)) end
if ends ~= '' then forget({ ends }) end
redis.call('ZADD', names, until_, name)
redis.call('HSET', told, name, now)

local all = 0
for i = 4, #KEYS, 4 do
  local due, came, jobs, standing = unpack(KEYS, i, i + 3)
  -- Of the same length, so that jobs that are due at the same time come in their order.
  local number = string.format('%016d', redis.call('INCR', counter))
  redis.call('ZADD', due, now, number)
  redis.call('ZADD', came, now, number)
  redis.call('HSET', jobs, number, job)
  -- A bound that was lowered is reached later.
  local dropped = math.min(redis.call('ZCARD', came) - tonumber(most), 1000)
  if dropped > 0 then
    for _, old in ipairs(redis.call('ZRANGE', came, 0, dropped - 1)) do
      redis.call('ZREM', due, old)
      redis.call('ZREM', came, old)
      redis.call('HDEL', jobs, old, old .. ':n')
    end
    redis.call('HINCRBY', standing, 'lost', dropped)
    all = all + dropped
  end
end
for i = 4, #KEYS do redis.call('PEXPIRE', KEYS[i], life) end
return all

local redis = require 'nginx.redis'

local function refuse(status, code, message)
  ngx.status = status
  ngx.header['Content-Type'] = 'application/json'
  ngx.say('{"code":"' .. code .. '","message":"' .. message .. '","status":' .. status .. '}')
  return ngx.exit(status)
end

local function limited(limit, until_ms)
  ngx.header['X-RateLimit-Limit'] = limit
  ngx.header['X-RateLimit-Remaining'] = 0
  ngx.header['X-RateLimit-Reset'] = math.ceil(until_ms / 1000)
  ngx.header['Retry-After'] = math.max(1, math.ceil(until_ms / 1000 - ngx.now()))
  return refuse(429, 'rate_limit_exceeded', 'Too many requests.')
end

local key = ngx.var.http_x_api_key
local limits = key and bench.limits[key]
if not limits then return refuse(401, 'invalid_key', 'The key is unknown.') end

local refused = ngx.shared.refused
local until_ms = refused:get(key)
if until_ms then return limited(limits[2], until_ms) end

local client = redis:new()
client:set_timeout(1000)
local connected, failure = client:connect('127.0.0.1', bench.redis_port)
if not connected then
  ngx.log(ngx.ERR, failure)
  return refuse(503, 'unavailable', 'Redis cannot be reached.')
end
local answer, wrong = client:evalsha(bench.sha, 1, key, limits[1], limits[2])
if not answer then
  ngx.log(ngx.ERR, wrong)
  return refuse(503, 'unavailable', 'Redis did not answer.')
end
client:set_keepalive(60000, 256)

if answer[1] == 0 then
  refused:set(key, answer[3], (answer[3] - answer[4]) / 1000)
  return limited(limits[2], answer[3])
end
ngx.header['X-RateLimit-Limit'] = limits[2]
ngx.header['X-RateLimit-Remaining'] = answer[2]
ngx.header['X-RateLimit-Reset'] = math.ceil(answer[3] / 1000)

import { existsSync, readFileSync } from 'node:fs';
import { lua } from '../load.ts';
import { hasNginxModules, startNginx } from '../nginx.ts';
import { KEYS } from '../work.ts';
import type { Target } from './target.ts';

const MODULES = ['ndk_http_module', 'ngx_http_lua_module'];
const LUA = '/usr/share/lua/5.1';
/** Key -> units per minute and per day, as a Lua table. */
const LIMITS = `{ [${lua(KEYS.admitted)}] = { 1e9, 1e9 }, [${lua(KEYS.refused)}] = { 1e9, 1 } }`;

/** The engine of Kong and APISIX. */
export const nginxLuaRedis: Target = {
  name: 'nginx-lua-redis',
  title: 'nginx + Lua + Redis',
  works: ['get', 'post', 'refused', 'unknown'],
  counts: true,
  redis: true,
  missing: () =>
    hasNginxModules(MODULES) && existsSync(`${LUA}/nginx/redis.lua`)
      ? null
      : 'the Lua module is missing (apt-get install libnginx-mod-http-lua lua-nginx-redis)',
  async start({ children, backend, redis }) {
    const script = readFileSync(new URL('nginx-lua-redis/admit.lua', import.meta.url), 'utf8');
    const sha = await redis!.client.script('LOAD', script);
    const access = new URL('nginx-lua-redis/access.lua', import.meta.url).pathname;
    return await startNginx(children, {
      name: 'nginx-lua-redis',
      log: '/dev/null',
      modules: MODULES,
      backend: backend.port,
      http: `lua_package_path "${LUA}/?.lua;;";
  lua_shared_dict refused 10m;
  init_by_lua_block { bench = { redis_port = ${redis!.port}, sha = ${lua(`${sha}`)}, limits = ${LIMITS} } }`,
      location: `access_by_lua_file ${access};`,
    });
  },
};

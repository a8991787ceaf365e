import { existsSync, readFileSync } from 'node:fs';
import { freePort } from '../../test/support/free-port.ts';
import { lua } from '../load.ts';
import { hasNginxModules, PROXY_PASS, startNginx, upstream } from '../nginx.ts';
import type { Keys } from '../work.ts';
import { missingExecutable, type Target } from './target.ts';

const MODULES = ['ndk_http_module', 'ngx_http_lua_module'];
const LUA = '/usr/share/lua/5.1';

/** The engine of Kong and APISIX. */
export const nginxLuaRedis: Target = {
  name: 'nginx-lua-redis',
  title: 'nginx + Lua + Redis',
  works: ['get', 'post', 'refused', 'unknown'],
  counts: true,
  redis: true,
  missing: () =>
    hasNginxModules(MODULES) && existsSync(`${LUA}/nginx/redis.lua`)
      ? missingExecutable('redis-server')
      : 'the Lua module is missing (apt-get install libnginx-mod-http-lua lua-nginx-redis)',
  async start({ children, backend, redis, keys }) {
    const port = await freePort();
    const sha = await redis!.loadScript(
      readFileSync(new URL('nginx-lua-redis/admit.lua', import.meta.url), 'utf8'),
    );
    const access = new URL('nginx-lua-redis/access.lua', import.meta.url).pathname;
    const child = await startNginx(children, {
      name: 'nginx-lua-redis',
      port,
      log: true,
      modules: MODULES,
      http: `${upstream(backend.port)}
  lua_package_path "${LUA}/?.lua;;";
  lua_shared_dict refused 10m;
  init_by_lua_block { bench = { redis_port = ${redis!.port}, sha = ${lua(sha)}, limits = ${limits(keys)} } }`,
      server: `location / { access_by_lua_file ${access}; ${PROXY_PASS} }`,
    });
    return { url: `http://127.0.0.1:${port}`, keys, ...child };
  },
};

/** Key -> units per minute and per day, as a Lua table. */
function limits({ admitted, refused }: Keys): string {
  return `{ [${lua(admitted)}] = { 1e9, 1e9 }, [${lua(refused)}] = { 1e9, 1 } }`;
}

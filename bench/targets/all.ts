import { nginxLuaRedis } from './nginx-lua-redis.ts';
import { caddy, haproxy, nginx, nginxLimit } from './proxies.ts';
import { servers } from './servers.ts';
import { gateways } from './storegate.ts';
import type { Target } from './target.ts';

/** Their figures are the units of all others. */
export const units: readonly Target[] = [nginx, nginxLimit];

/** In the order of the table. */
export const targets: readonly Target[] = [
  ...units,
  haproxy,
  caddy,
  nginxLuaRedis,
  ...gateways,
  ...servers,
];

import { caddy } from './caddy.ts';
import { express } from './express.ts';
import { fastGateway } from './fast-gateway.ts';
import { fastify } from './fastify.ts';
import { fastifyLimit } from './fastify-limit.ts';
import { haproxy } from './haproxy.ts';
import { nginx } from './nginx.ts';
import { nginxLimit } from './nginx-limit.ts';
import { nginxLuaRedis } from './nginx-lua-redis.ts';
import { refusal } from './refusal.ts';
import { storegate, storegateRedis, storegateSilent, storegateWorkers } from './storegate.ts';
import type { Target } from './target.ts';
import { undici } from './undici.ts';
import { usual } from './usual.ts';

/** In the order of the table. */
export const targets: readonly Target[] = [
  nginx,
  nginxLimit,
  haproxy,
  caddy,
  nginxLuaRedis,
  storegate,
  storegateRedis,
  storegateWorkers,
  storegateSilent,
  undici,
  refusal,
  fastGateway,
  fastify,
  fastifyLimit,
  express,
  usual,
];

/** Their figures are the units of all others. */
export const units: readonly Target[] = [nginx, nginxLimit];

import proxy from '@fastify/http-proxy';
import rateLimit from '@fastify/rate-limit';
import { fastify } from 'fastify';
import { Redis } from 'ioredis';
import { backendUrl, CONNECTIONS, port, redisUrl, refusedKey } from './environment.ts';

const app = fastify();
if (redisUrl)
  await app.register(rateLimit, {
    redis: new Redis(redisUrl),
    nameSpace: 'fastify:',
    timeWindow: '1 day',
    keyGenerator: (request) => String(request.headers['x-api-key']),
    max: (_request, key) => (key === refusedKey ? 1 : 1_000_000_000),
  });
await app.register(proxy, { upstream: backendUrl, undici: { connections: CONNECTIONS } });
await app.listen({ port, host: '127.0.0.1' });

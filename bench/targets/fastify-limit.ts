import { missingExecutable } from './executable.ts';
import { startServer, type Target } from './target.ts';

/** Its limiter has one window per route. */
export const fastifyLimit: Target = {
  name: 'fastify-limit',
  title: '@fastify/http-proxy + rate-limit, 1 window, Redis',
  works: ['get', 'refused'],
  counts: true,
  redis: true,
  missing: () => missingExecutable('redis-server'),
  start: (surroundings) => startServer('fastify-limit', surroundings),
};

import { missingExecutable } from './executable.ts';
import { startServer, type Target } from './target.ts';

/** Fastify's proxy behind its limiter in Redis, which has one window per route. */
export const fastifyLimit: Target = {
  name: 'fastify-limit',
  title: '@fastify/http-proxy + rate-limit, 1 window, Redis',
  works: ['get', 'refused'],
  counts: true,
  redis: true,
  missing: () => missingExecutable('redis-server'),
  start: (surroundings) => startServer('fastify-limit', surroundings),
};

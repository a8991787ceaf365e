import { nothingMissing, startServer, type Target } from './target.ts';

export const fastify: Target = {
  name: 'fastify',
  title: '@fastify/http-proxy',
  works: ['get', 'post'],
  counts: false,
  redis: false,
  missing: nothingMissing,
  start: (surroundings) => startServer('fastify', surroundings),
};

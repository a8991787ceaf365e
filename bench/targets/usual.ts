import { missingExecutable } from './executable.ts';
import { startServer, type Target } from './target.ts';

/** The stack of best-known packages for the same job. */
export const usual: Target = {
  name: 'usual',
  title: 'the usual Express stack',
  works: ['get', 'post', 'refused', 'unknown'],
  counts: true,
  redis: true,
  missing: () => missingExecutable('redis-server'),
  start: (surroundings) => startServer('usual', surroundings),
};

import { nothingMissing, startServer, type Target } from './target.ts';

/** The simplest proxy in Node.js. */
export const undici: Target = {
  name: 'undici',
  title: 'undici dispatch in node:http',
  works: ['get', 'post'],
  counts: false,
  redis: false,
  missing: nothingMissing,
  start: (surroundings) => startServer('undici', surroundings),
};

import { nothingMissing, startServer, type Target } from './target.ts';

/** The cheapest refusal in Node.js: one prepared response with the same headers. */
export const refusal: Target = {
  name: 'refusal',
  title: 'one prepared refusal in node:http',
  works: ['refused'],
  counts: false,
  redis: false,
  missing: nothingMissing,
  start: (surroundings) => startServer('refusal', surroundings),
};

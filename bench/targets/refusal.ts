import { nothingMissing, startServer, type Target } from './target.ts';

/** The cheapest refusal in Node.js: one prepared answer for every caller, with the headers of ours. */
export const refusal: Target = {
  name: 'refusal',
  title: 'one prepared refusal in node:http',
  works: ['refused'],
  counts: false,
  redis: false,
  missing: nothingMissing,
  start: (surroundings) => startServer('refusal', surroundings),
};

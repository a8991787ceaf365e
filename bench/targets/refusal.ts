import { nothingMissing, startServer, type Target } from './target.ts';

/** The least a refusal in Node.js can cost: one prepared answer for everybody, with the headers of ours. */
export const refusal: Target = {
  name: 'refusal',
  title: 'one prepared refusal in node:http',
  works: ['refused'],
  counts: false,
  redis: false,
  missing: nothingMissing,
  start: (surroundings) => startServer('refusal', surroundings),
};

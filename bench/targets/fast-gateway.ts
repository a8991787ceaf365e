import { nothingMissing, startServer, type Target } from './target.ts';

/** A gateway framework, here with one bare route. */
export const fastGateway: Target = {
  name: 'fast-gateway',
  title: 'fast-gateway',
  works: ['get'],
  counts: false,
  redis: false,
  missing: nothingMissing,
  start: (surroundings) => startServer('fast-gateway', surroundings),
};

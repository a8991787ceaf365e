import { nothingMissing, startServer, type Target } from './target.ts';

export const fastGateway: Target = {
  name: 'fast-gateway',
  title: 'fast-gateway',
  works: ['get'],
  counts: false,
  redis: false,
  missing: nothingMissing,
  start: (surroundings) => startServer('fast-gateway', surroundings),
};

import { nothingMissing, startServer, type Target } from './target.ts';

export const express: Target = {
  name: 'express',
  title: 'Express + http-proxy-middleware',
  works: ['get', 'post'],
  counts: false,
  redis: false,
  missing: nothingMissing,
  start: (surroundings) => startServer('express', surroundings),
};

import { nothingMissing, startServer, type Target } from './target.ts';

/** The most widely used proxy for Node.js, alone. */
export const express: Target = {
  name: 'express',
  title: 'Express + http-proxy-middleware',
  works: ['get', 'post'],
  counts: false,
  redis: false,
  missing: nothingMissing,
  start: (surroundings) => startServer('express', surroundings),
};

import type { RedisSettings } from '../../../src/config/config.ts';

/** The settings of the shipped gateway.yaml. */
export const DEFAULTS = {
  topology: 'single',
  nodes: [],
  master: 'mymaster',
  sentinelPassword: null,
  deadline: 50,
  misses: 3,
  whenAway: 'local',
  divide: true,
  readyWhenAway: true,
  refusedFor: 5_000,
  keysFor: 30_000,
  keyCopy: { enabled: true, sweep: 300_000, maxAge: 86_400_000 },
} as const satisfies Omit<RedisSettings, 'url'>;

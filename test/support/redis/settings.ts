import type { RedisSettings } from '../../../src/config/config.ts';

export const DEFAULTS = {
  topology: 'single',
  nodes: [],
  master: 'mymaster',
  sentinelPassword: null,
  deadline: 50,
  failureThreshold: 3,
  onOutage: 'local',
  shareRemaining: true,
  readyDuringOutage: true,
  refusalCacheTtl: 5_000,
  keyCache: { enabled: true, maxAge: 86_400_000 },
} as const satisfies Omit<RedisSettings, 'url'>;

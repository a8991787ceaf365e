import type { GatewayStatus } from '../../src/observe/peers/status.ts';

export const STATUS: GatewayStatus = {
  version: '1.0.0',
  node: 'v24.0.0',
  startedAt: 1,
  url: null,
  adminUrl: null,
  readiness: 'ready',
  state: 'redis, single',
  workers: 0,
  processes: [
    {
      worker: null,
      pid: 1,
      inFlight: 0,
      memory: 1,
      localSince: null,
      stateTime: 0.5,
      backends: [],
      backend: { open: 0, idle: 0, waiting: 0, most: 1 },
      conditions: [],
      counted: '',
      traffic: { requests: 0, failed: 0, refused: 0 },
    },
  ],
  conditions: [],
  configuration: {
    settings: 'a',
    plans: 'b',
    contract: 'c',
    copy: null,
    waiting: [],
    lastReload: { at: 1, reason: 'asked', problems: [] },
  },
};

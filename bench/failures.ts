/**
 * CPU of counting a failed authentication: in memory, and in Redis.
 *
 *     node --disable-warning=ExperimentalWarning bench/failures.ts
 */

import { parseArgs } from 'node:util';
import { type CallerWindow, createCallerWindow } from '../src/common/callers/caller-window.ts';
import type { Window } from '../src/limits/limits.ts';
import { callerWindowsIn } from '../src/state/redis/caller-windows.ts';
import { connect, disconnect } from '../src/state/redis/client.ts';
import { DEFAULTS } from '../test/support/redis/settings.ts';
import { Children } from './children.ts';
import { cpuTime, ownCpuTime } from './cpu.ts';
import { startRedis } from './redis-server.ts';
import { spread } from './statistics.ts';

const { values } = parseArgs({
  options: {
    failures: { type: 'string', default: '60000' },
    together: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '5' },
  },
});
const [failures, together, rounds] = [values.failures, values.together, values.rounds].map(
  Number,
) as [number, number, number];
const ADDRESSES = 20_000;
const WINDOW: Window = { name: 'failures', kind: 'fixed', limit: 1_000_000, span: 60_000 };

const children = new Children();
try {
  const server = await startRedis(children);
  const redis = await connect({ ...DEFAULTS, url: server.url });
  const windows = {
    memory: createCallerWindow(WINDOW),
    redis: callerWindowsIn(redis, {
      workers: 1,
      deadline: 5_000,
      isDown: () => false,
    })(WINDOW),
  };
  const series = Object.entries(windows).map(([name, window]) => ({
    name,
    window,
    own: [] as number[],
    inRedis: [] as number[],
  }));
  for (let round = 0; round <= rounds; round++) {
    for (const { window, own, inRedis } of series) {
      const before = [ownCpuTime(process.pid), cpuTime(server.pid)] as const;
      await count(window);
      // The first round warms up.
      if (round === 0) continue;
      own.push((ownCpuTime(process.pid) - before[0]) / failures);
      inRedis.push((cpuTime(server.pid) - before[1]) / failures);
    }
  }
  for (const { name, own, inRedis } of series)
    console.log(
      `${name}: ${spread(own).median.toFixed(1)} µs (least ${spread(own).min.toFixed(1)}) in the gateway, ${spread(inRedis).median.toFixed(1)} µs in Redis`,
    );
  disconnect(redis);
  server.close();
} finally {
  await children.close();
}

async function count(window: CallerWindow): Promise<void> {
  let sent = 0;
  async function send(): Promise<void> {
    while (sent < failures) await window.take(`10.0.${(sent++ % ADDRESSES) >> 8}.${sent & 255}`);
  }
  await Promise.all(Array.from({ length: together }, send));
}

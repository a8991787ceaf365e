/**
 * Measures the cost of the state in Redis. One command, no arguments:
 *
 *     node --disable-warning=ExperimentalWarning bench/redis/cost.ts
 *
 * Starts a separate redis-server in a temporary folder and prints the table of docs/redis.md.
 */

import type { RedisSettings } from '../../src/config/config.ts';
import { createKey } from '../../src/keys/manage.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { connect } from '../../src/state/redis/client.ts';
import { RedisState } from '../../src/state/redis/counters.ts';
import { disconnect } from '../../src/state/redis/lasting.ts';
import { openBeside, openRedis } from '../../src/state/redis/open.ts';
import type { State } from '../../src/state/state.ts';
import { KEPT } from '../../test/support/audit.ts';
import { note } from '../../test/support/records.ts';
import { type RedisServer, startRedis } from '../../test/support/redis/server.ts';
import { DEFAULTS } from '../../test/support/redis/settings.ts';

const MINUTE = { name: 'minute', kind: 'fixed', span: 60_000 } as const;
const DAY = { name: 'day', kind: 'fixed', span: 86_400_000 } as const;
const LADDER = { strikes: 10, within: 60_000, grace: 100, lengths: [60_000, 300_000], forget: 86_400_000 };
const WIDE: Limits = {
  windows: [
    { ...MINUTE, limit: 1e9 },
    { ...DAY, limit: 1e9 },
  ],
  ladder: LADDER,
};
const SPENT: Limits = {
  windows: [
    { ...MINUTE, limit: 1 },
    { ...DAY, limit: 1e9 },
  ],
  ladder: null,
};

const SUBJECTS = 1_000_000;
const KEYS = 20_000;

/** The cost of `requests`: microseconds of processor in Redis and here, commands, and the wait of a request. */
interface Cost {
  readonly redis: number;
  readonly here: number;
  readonly calls: number;
  readonly median: number;
  readonly p99: number;
}

async function measure(
  server: RedisServer,
  requests: number,
  callers: number,
  one: (i: number) => unknown,
): Promise<Cost> {
  const before = await usage(server);
  const waits = new Float64Array(requests);
  let next = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let i = next++; i < requests; i = next++) {
        const begun = performance.now();
        const answer = one(i);
        if (answer instanceof Promise) await answer;
        waits[i] = performance.now() - begun;
      }
    }),
  );
  const after = await usage(server);
  waits.sort();
  return {
    redis: (after.redis - before.redis) / requests,
    here: (after.here - before.here) / requests,
    calls: (after.calls - before.calls) / requests,
    median: waits[Math.floor(requests / 2)]! * 1000,
    p99: waits[Math.floor(requests * 0.99)]! * 1000,
  };
}

async function usage({ admin }: RedisServer): Promise<{ redis: number; here: number; calls: number }> {
  const cpu = await admin.info('cpu');
  const stats = await admin.info('commandstats');
  const { user, system } = process.cpuUsage();
  const seconds = (name: string) => Number(new RegExp(`^used_cpu_${name}:([\\d.]+)`, 'm').exec(cpu)?.[1]);
  const calls = Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
  return { redis: (seconds('sys') + seconds('user')) * 1e6, here: user + system, calls };
}

async function memory({ admin }: RedisServer): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))?.[1]);
}

function row(what: string, { redis, here, calls, median, p99 }: Cost): void {
  const cells = [redis.toFixed(1), here.toFixed(1), calls.toFixed(3), median.toFixed(0), p99.toFixed(0)];
  console.log(`| ${what} | ${cells.join(' | ')} |`);
}

async function costs(server: RedisServer, settings: RedisSettings): Promise<void> {
  console.log('| request | Redis µs | gateway µs | calls | median wait µs | p99 µs |\n|---|---|---|---|---|---|');
  const redis = await connect(settings);
  const state: State = new RedisState(redis, { deadline: 5_000 });
  const admit = (i: number) => state.admit(`key:${(i * 7919) % 10_000}`, WIDE, 1);
  await measure(server, 20_000, 200, admit);
  for (const callers of [1, 20, 200])
    row(`admitted, ${callers} at a time`, await measure(server, callers * 1_000 + 10_000, callers, admit));
  disconnect(redis);
  const shared = await openRedis(settings, { observe: () => {}, audit: KEPT });
  await shared.state.admit('key:spent', SPENT, 1);
  row('refused, known here', await measure(server, 200_000, 20, () => shared.state.admit('key:spent', SPENT, 1)));
  await shared.close();
}

async function sizes(server: RedisServer, settings: RedisSettings): Promise<void> {
  await server.admin.flushall();
  const shared = await openRedis(settings, { observe: () => {}, audit: KEPT });
  const empty = await memory(server);
  const heap = heapUsed();
  await measure(server, SUBJECTS, 1_000, (i) => shared.state.admit(`key:key_${String(i).padStart(16, '0')}`, WIDE, 1));
  console.log(
    `\nOne subject of two fixed windows, at ${SUBJECTS}: ${(((await memory(server)) - empty) / SUBJECTS).toFixed(0)} bytes in Redis,`,
  );
  console.log(
    `${((heapUsed() - heap) / SUBJECTS).toFixed(0)} in the gateway (${((heapUsed() - heap) / 2 ** 20).toFixed(0)} MiB in all, bounded).`,
  );
  await shared.close();

  await server.admin.flushall();
  const before = await memory(server);
  // The entries of the audit log are not what is measured.
  const beside = await openBeside(settings, { ...KEPT, keep: 1 });
  const plans = {
    plans: new Map([['free', { name: 'free', count: 'key', windows: SPENT.windows } as const]]),
    ladder: LADDER,
    accounts: new Map(),
  };
  await measure(server, KEYS, 50, () =>
    createKey(beside.keys, plans, { account: 'acme', plan: 'free' }, Date.now(), () => note()),
  );
  console.log(`One API key, at ${KEYS}: ${(((await memory(server)) - before) / KEYS).toFixed(0)} bytes in Redis.`);
  beside.close();
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const server = await startRedis();
const settings: RedisSettings = { ...DEFAULTS, url: server.url, deadline: 5_000 };
try {
  await costs(server, settings);
  await sizes(server, settings);
} finally {
  await server.stop();
}

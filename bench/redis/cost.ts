/**
 * What admissions cost Redis and the gateway, and what a subject takes in Redis:
 *
 *     node --disable-warning=ExperimentalWarning --expose-gc bench/redis/cost.ts
 */
import type { Limits } from '../../src/limits/limits.ts';
import { openRedis } from '../../src/records/redis/open.ts';
import { KEPT } from '../../test/support/audit.ts';
import { DAY, MINUTE, window } from '../../test/support/limits.ts';
import { type RedisServer, startRedis } from '../../test/support/redis/server.ts';
import { DEFAULTS } from '../../test/support/redis/settings.ts';
import { percentile } from '../statistics.ts';

const SUBJECTS = 1_000_000;
const AT_ONCE = [1, 20, 200];
const limitsOf = (least: number): Limits => ({
  windows: [window(least, MINUTE), { ...window(1e9, DAY), name: 'day' }],
  escalation: null,
});
const [WIDE, TINY] = [limitsOf(1e9), limitsOf(1)];

const server = await startRedis();
const settings = { ...DEFAULTS, url: server.url, deadline: 5_000 };
const { state, close } = await openRedis(settings, { observe: () => {}, audit: KEPT });
try {
  const one = (i: number) => state.admit(`key:${(i * 7_919) % 10_000}`, WIDE, 1);
  await cost('warm-up', 20_000, 200, one);
  console.log('request                  Redis µs  gateway µs     calls   median wait µs');
  for (const together of AT_ONCE)
    console.log(
      await cost(`admitted, ${together} at a time`, 10_000 + 1_000 * together, together, one),
    );
  await state.admit('key:refused', TINY, 1);
  console.log(await cost('refused, known', 200_000, 20, () => state.admit('key:refused', TINY, 1)));
  await size();
} finally {
  await close();
  await server.stop();
}

async function cost(
  what: string,
  requests: number,
  together: number,
  one: (i: number) => unknown,
): Promise<string> {
  const before = await usage(server);
  const waits: number[] = [];
  let next = 0;
  const client = async () => {
    for (let i = next++; i < requests; i = next++) {
      const begun = performance.now();
      await one(i);
      waits.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: together }, client));
  const after = await usage(server);
  const each = (name: keyof typeof before) => (after[name] - before[name]) / requests;
  return [
    what.padEnd(22),
    each('redis').toFixed(1).padStart(10),
    each('gateway').toFixed(1).padStart(11),
    each('calls').toFixed(3).padStart(9),
    (percentile(waits, 0.5) * 1_000).toFixed(0).padStart(16),
  ].join(' ');
}

async function size(): Promise<void> {
  const [redis, gateway] = [await memory(server), heap()];
  await cost('subjects', SUBJECTS, 1_000, (i) => state.admit(`key:key_${i + 1e15}`, WIDE, 1));
  const each = ((await memory(server)) - redis) / SUBJECTS;
  console.log(`A subject with two windows takes ${each.toFixed(0)} bytes in Redis.`);
  const kept = (heap() - gateway) / 2 ** 20;
  console.log(`The gateway keeps ${kept.toFixed(0)} MiB for a million subjects.`);
}

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** Microseconds, and calls of scripts. */
async function usage({ admin }: RedisServer) {
  const [cpu, stats] = [await admin.info('cpu'), await admin.info('commandstats')];
  const seconds = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(cpu)![1]);
  const { user, system } = process.cpuUsage();
  return {
    redis: (seconds('used_cpu_sys') + seconds('used_cpu_user')) * 1e6,
    gateway: user + system,
    calls: Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1] ?? 0),
  };
}

async function memory({ admin }: RedisServer): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))![1]);
}

import type { Limits } from '../../src/limits/limits.ts';
import { openRedis } from '../../src/records/redis/open.ts';
import { KEPT } from '../../test/support/audit.ts';
import { DAY, MINUTE, window } from '../../test/support/limits.ts';
import { type RedisServer, startRedis } from '../../test/support/redis/server.ts';
import { DEFAULTS } from '../../test/support/redis/settings.ts';
import { percentile } from '../statistics.ts';

const limitsOf = (least: number): Limits => ({
  windows: [window(least, MINUTE), { ...window(1e9, DAY), name: 'day' }],
  escalation: null,
});
const [WIDE, TINY] = [limitsOf(1e9), limitsOf(1)];

/** What admissions cost Redis and the gateway, and what `subjects` take in both. */
export async function cost(subjects: number): Promise<void> {
  const server = await startRedis();
  const settings = { ...DEFAULTS, url: server.url, deadline: 5_000 };
  const { state, close } = await openRedis(settings, { observe: () => {}, audit: KEPT });
  const admit = (i: number) => state.admit(`key:${(i * 7_919) % 10_000}`, WIDE, 1);
  try {
    await measure(server, 20_000, 200, admit);
    console.log('request                  Redis µs  gateway µs     calls   median wait µs');
    for (const together of [1, 20, 200]) {
      const cells = await measure(server, 10_000 + 1_000 * together, together, admit);
      console.log(`admitted, ${together} at a time`.padEnd(22), cells);
    }
    await state.admit('key:refused', TINY, 1);
    const refuse = () => state.admit('key:refused', TINY, 1);
    console.log('refused, known'.padEnd(22), await measure(server, 200_000, 20, refuse));
    const [redis, gateway] = [await memory(server), heap()];
    await measure(server, subjects, 1_000, (i) => state.admit(`key:key_${i + 1e15}`, WIDE, 1));
    const each = ((await memory(server)) - redis) / subjects;
    console.log(`A subject with two windows takes ${each.toFixed(0)} bytes in Redis.`);
    const kept = (heap() - gateway) / 2 ** 20;
    console.log(`The gateway keeps ${kept.toFixed(0)} MiB for ${subjects} subjects.`);
  } finally {
    await close();
    await server.stop();
  }
}

async function measure(
  server: RedisServer,
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
  const wait =
    percentile(
      waits.sort((a, b) => a - b),
      0.5,
    ) * 1_000;
  return [
    each('redis').toFixed(1).padStart(10),
    each('gateway').toFixed(1).padStart(11),
    each('calls').toFixed(3).padStart(9),
    wait.toFixed(0).padStart(16),
  ].join(' ');
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

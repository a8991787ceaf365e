import type { Limits } from '../../src/limits/limits.ts';
import { openRedis } from '../../src/records/redis/open.ts';
import { KEPT } from '../../test/support/audit.ts';
import { DAY, MINUTE, window } from '../../test/support/limits.ts';
import { DEFAULTS } from '../../test/support/redis/settings.ts';
import { Children } from '../children.ts';
import { heldMemory, total } from '../cpu.ts';
import { type RedisServer, redisDecisions, redisInfo, startRedis } from '../redis-server.ts';
import { spread } from '../statistics.ts';
import { printHead, printRow } from '../table.ts';

const limitsOf = (least: number): Limits => ({
  windows: [window(least, MINUTE), { ...window(1e9, DAY), name: 'day' }],
  escalation: null,
});
const [WIDE, TINY] = [limitsOf(1e9), limitsOf(1)];

/** What admissions cost Redis and the gateway, and what `subjects` take in both. */
export async function cost(subjects: number): Promise<void> {
  const children = new Children();
  const server = await startRedis(children);
  const settings = { ...DEFAULTS, url: server.url, deadline: 5_000 };
  const { state, close } = await openRedis(settings, { observe: () => {}, audit: KEPT });
  const admit = (i: number) => state.admit(`key:${(i * 7_919) % 10_000}`, WIDE, 1);
  const memory = () => redisInfo(server, 'memory', 'used_memory:');
  try {
    await measure(server, 20_000, 200, admit);
    printHead('request', 'Redis µs', 'gateway µs', 'calls', 'median wait µs');
    for (const together of [1, 20, 200]) {
      const figures = await measure(server, 10_000 + 1_000 * together, together, admit);
      printRow(`admitted, ${together} at a time`, ...figures);
    }
    await state.admit('key:refused', TINY, 1);
    const refuse = () => state.admit('key:refused', TINY, 1);
    printRow('refused, known', ...(await measure(server, 200_000, 20, refuse)));
    const [redis, gateway] = [await memory(), heldMemory()];
    await measure(server, subjects, 1_000, (i) => state.admit(`key:key_${i + 1e15}`, WIDE, 1));
    const each = ((await memory()) - redis) / subjects;
    console.log(`A subject with two windows takes ${each.toFixed(0)} bytes in Redis.`);
    const kept = (heldMemory() - gateway) / 2 ** 20;
    console.log(`The gateway keeps ${kept.toFixed(0)} MiB for ${subjects} subjects.`);
  } finally {
    await close();
    await server.stop();
    await children.close();
  }
}

async function measure(
  server: RedisServer,
  requests: number,
  together: number,
  one: (i: number) => unknown,
): Promise<string[]> {
  const usage = async () => ({
    redis: (await redisInfo(server, 'cpu', 'used_cpu_(?:sys|user):')) * 1e6,
    gateway: total(process.cpuUsage()),
    calls: await redisDecisions(server),
  });
  const before = await usage();
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
  const after = await usage();
  const each = (name: keyof typeof before) => (after[name] - before[name]) / requests;
  return [
    each('redis').toFixed(1),
    each('gateway').toFixed(1),
    each('calls').toFixed(3),
    (spread(waits).median * 1_000).toFixed(0),
  ];
}

/**
 * CPU of counting a failed authentication in a worker: over the channel to the primary process, and
 * in Redis.
 *
 *     node --disable-warning=ExperimentalWarning bench/failures.ts
 */

import cluster from 'node:cluster';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { createGuard, type Guard } from '../src/common/callers/guard.ts';
import { type Channel, createChannel } from '../src/run/workers/channel.ts';
import { Children } from './children.ts';
import { ownCpuTime } from './cpu.ts';
import { startRedis } from './redis-server.ts';

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
const DEADLINE = 5_000;
const LIMIT = { failures: 1_000_000, window: 60_000 };

type Counting = { fail: Guard['fail'] };
type Measuring = { measure: (to: { readonly url: string; readonly pid: number }) => string[] };

if (cluster.isPrimary) await supervise();
else serve();

async function supervise(): Promise<void> {
  const children = new Children();
  cluster.setupPrimary({ serialization: 'advanced' });
  const worker = cluster.fork();
  try {
    const redis = await startRedis(children);
    const channel = createChannel<Measuring, Counting>({
      peer: 'the worker',
      send: (frame, sent) => void worker.send(frame, sent),
      handlers: { fail: createGuard(LIMIT).fail },
    });
    worker.on('message', (message) => channel.receive(message));
    const target = { url: redis.url, pid: redis.pid };
    for (let round = 0; round < rounds; round++)
      console.log((await channel.call('measure', target, 600_000)).join('; '));
    redis.close();
  } finally {
    worker.kill();
    await children.close();
  }
}

function serve(): void {
  const channel: Channel<Counting, Measuring> = createChannel({
    peer: 'the primary process',
    send: (frame, sent) => void process.send!(frame, sent),
    handlers: {
      async measure({ url, pid }) {
        const redis = new Redis(url, { enableAutoPipelining: true });
        const limiter = new RateLimiterRedis({
          storeClient: redis,
          points: LIMIT.failures,
          duration: LIMIT.window / 1_000,
        });
        const over = [
          await cost('channel', process.ppid, (address) => channel.call('fail', address, DEADLINE)),
          await cost('redis', pid, (address) => limiter.consume(address)),
        ];
        redis.disconnect();
        return over;
      },
    },
  });
  process.on('message', (message) => channel.receive(message));
}

async function cost(
  name: string,
  counting: number,
  fail: (address: string) => Promise<unknown>,
): Promise<string> {
  const before = [process.pid, counting].map(ownCpuTime);
  let sent = 0;
  async function send(): Promise<void> {
    while (sent < failures) await fail(`10.0.${(sent++ % ADDRESSES) >> 8}.${sent & 255}`);
  }
  await Promise.all(Array.from({ length: together }, send));
  const [own, other] = [process.pid, counting].map((pid, i) =>
    ((ownCpuTime(pid) - before[i]!) / failures).toFixed(1),
  );
  return `${name}: ${own} µs in the worker, ${other} µs where it is counted`;
}

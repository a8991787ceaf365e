/**
 * CPU of Redis for an admission, by the number of gateways that send it one at a time:
 *
 *     node --disable-warning=ExperimentalWarning bench/redis/connections.ts
 *
 * Admissions of one turn of a gateway's event loop share a call, so many gateways with little
 * traffic cost Redis more than few busy ones. `--gateways 1,100 --together 20` lets each gateway
 * send 20 in a call.
 */
import { parseArgs } from 'node:util';
import type { Limits } from '../../src/limits/limits.ts';
import { type Connection, connect, disconnect } from '../../src/state/redis/client.ts';
import { createRedisState, type RedisState } from '../../src/state/redis/counters.ts';
import { startRedis } from '../../test/support/redis/server.ts';
import { DEFAULTS } from '../../test/support/redis/settings.ts';

const { values } = parseArgs({
  options: {
    gateways: { type: 'string', default: '1,10,100' },
    together: { type: 'string', default: '1' },
    requests: { type: 'string', default: '200000' },
  },
});
const [requests, together] = [Number(values.requests), Number(values.together)];
const limits: Limits = {
  windows: [
    { name: 'minute', kind: 'fixed', limit: 1e9, span: 60_000 },
    { name: 'day', kind: 'fixed', limit: 1e9, span: 86_400_000 },
  ],
  escalation: null,
};

const server = await startRedis();
try {
  console.log('gateways  Redis us/admission  admissions/s');
  for (const gateways of values.gateways.split(',').map(Number)) await measure(gateways);
} finally {
  await server.stop();
}

async function measure(gateways: number): Promise<void> {
  const redis = await Promise.all(
    Array.from({ length: gateways }, () => connect({ ...DEFAULTS, url: server.url })),
  );
  try {
    // Patient: on a busy machine an answer may take longer than the gateway waits.
    const states = redis.map((connection) => createRedisState(connection, { deadline: 10_000 }));
    await send(states, requests / 10);
    const before = await cpuOf(redis[0]!);
    const started = performance.now();
    await send(states, requests);
    const seconds = (performance.now() - started) / 1_000;
    const cost = (await cpuOf(redis[0]!)) - before;
    const cells = [`${gateways}`.padStart(8), (cost / requests).toFixed(1).padStart(18)];
    console.log(
      `${cells.join('  ')}  ${Math.round(requests / seconds)
        .toLocaleString('en')
        .padStart(12)}`,
    );
  } finally {
    for (const connection of redis) disconnect(connection);
  }
}

async function send(states: readonly RedisState[], count: number): Promise<void> {
  let sent = 0;
  const clients = states.flatMap((state) => Array.from({ length: together }, () => state));
  await Promise.all(
    clients.map(async (state) => {
      while (sent < count) {
        const { verdict } = await state.admit(`key_${sent++ % 100_000}`, limits, 1);
        if (verdict !== 'admitted') throw new Error(`a request was ${verdict}`);
      }
    }),
  );
}

/** Microseconds. */
async function cpuOf(redis: Connection): Promise<number> {
  const report = await redis.info('cpu');
  const seconds = (name: string) =>
    Number(new RegExp(`^used_cpu_${name}:([\\d.]+)`, 'm').exec(report)?.[1]);
  return (seconds('sys') + seconds('user')) * 1e6;
}

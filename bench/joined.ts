/**
 * Operators' questions to one gateway with workers, which ask over their channel, beside as many
 * gateways of one process, which ask over Redis:
 *
 *     node --disable-warning=ExperimentalWarning bench/joined.ts --workers 4
 *
 * Each arrangement has its own Redis. Idle, and while a console polls the status.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { POLL_INTERVAL } from '@storegate/admin-api/words';
import { Redis } from 'ioredis';
import { makeSecret } from '../src/records/keys/secret.ts';
import { startBackend } from './backend.ts';
import { Children } from './children.ts';
import { cpuTime, proportionalMemory } from './cpu.ts';
import { stepAside } from './processors.ts';
import { startRedis } from './redis-server.ts';
import { spread } from './statistics.ts';
import { prepareStoregate } from './targets/storegate-process.ts';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '20' },
    rest: { type: 'string', default: '20' },
  },
});
const [workers, seconds, rest] = [values.workers, values.seconds, values.rest].map(Number) as [
  number,
  number,
  number,
];
const QUESTIONS = 50;

stepAside();
const children = new Children();
try {
  const backend = await startBackend(children);
  const all = [
    await arrange(`1 gateway, ${workers} workers`, 1, workers),
    await arrange(`${workers} gateways`, workers, 1),
  ];
  await pause(rest * 1_000);
  console.log(
    '                               commands/s   KB/s   CPU ms/s   PSS MiB   connections',
  );
  await measure('idle', all);
  const stop = new AbortController();
  const polls = all.map(({ adminUrl }) => poll(adminUrl, stop.signal));
  await pause(5_000);
  await measure('polls', all);
  stop.abort();
  await Promise.all(polls);
  for (const { name, adminUrl, redis, client } of all) {
    const durations: number[] = [];
    for (let i = 0; i < QUESTIONS; i++) {
      const began = performance.now();
      await processesIn(adminUrl);
      durations.push(performance.now() - began);
    }
    const { median } = spread(durations);
    client.disconnect();
    redis.close();
    process.kill(redis.pid, 'SIGKILL');
    await pause(5_000);
    const known = await processesIn(adminUrl);
    console.log(
      `${name}: status ${median.toFixed(1)} ms; without Redis it has ${known} of ${workers} processes`,
    );
  }

  async function arrange(name: string, gateways: number, workers: number) {
    const redis = await startRedis(children);
    const keys = {
      admitted: makeSecret('bench'),
      refused: makeSecret('bench'),
      unknown: makeSecret('bench'),
    };
    const surroundings = { children, backend, redis, node: process.execPath, keys };
    const pids: number[] = [];
    let adminUrl = '';
    for (let i = 0; i < gateways; i++) {
      const options = { redis: true, workers };
      const prepared = await prepareStoregate(`${gateways}-${i}`, surroundings, options);
      ({ adminUrl } = prepared);
      pids.push((await children.start(prepared.command)).pid);
    }
    return { name, pids, adminUrl, redis, client: new Redis(redis.url) };
  }
} finally {
  await children.close();
}
process.exit();

type Arranged = Parameters<typeof reading>[0];

async function measure(what: string, all: readonly (Arranged & { name: string })[]) {
  const before = await Promise.all(all.map(reading));
  await pause(seconds * 1_000);
  const after = await Promise.all(all.map(reading));
  for (const [i, { name }] of all.entries()) {
    const each = (figure: 'commands' | 'bytes' | 'cpu') =>
      (after[i]![figure] - before[i]![figure]) / seconds;
    const cells = [
      each('commands').toFixed(1).padStart(11),
      (each('bytes') / 1_000).toFixed(1).padStart(6),
      (each('cpu') / 1_000).toFixed(1).padStart(10),
      (after[i]!.memory / 2 ** 20).toFixed(0).padStart(9),
      `${after[i]!.connections}`.padStart(13),
    ];
    console.log(`${what} ${name}`.padEnd(30), ...cells);
  }
}

async function reading({
  pids,
  redis,
  client,
}: {
  readonly pids: readonly number[];
  readonly redis: Awaited<ReturnType<typeof startRedis>>;
  readonly client: Redis;
}) {
  const sum = (of: (pid: number) => number) => pids.reduce((all, pid) => all + of(pid), 0);
  const info = await client.info();
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)![1]);
  return {
    commands: (await redis.calls()).commands,
    bytes: field('total_net_output_bytes') + field('total_net_input_bytes'),
    connections: field('connected_clients'),
    cpu: sum(cpuTime),
    memory: sum(proportionalMemory),
  };
}

async function processesIn(adminUrl: string): Promise<number> {
  const answer = await fetch(`${adminUrl}/status`);
  const { gateways } = (await answer.json()) as { gateways: { processes: unknown[] }[] };
  return gateways.reduce((sum, { processes }) => sum + processes.length, 0);
}

async function poll(adminUrl: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await processesIn(adminUrl);
    await pause(POLL_INTERVAL);
  }
}

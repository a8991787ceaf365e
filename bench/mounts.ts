/**
 * CPU of a mount, in microseconds per request: an operation, a mount with an upstream, and a mount
 * with a target (http-proxy-middleware), in turn on 16 connections to one nginx.
 *
 *     node --disable-warning=ExperimentalWarning bench/mounts.ts [--before FOLDER] [--requests N] [--rounds N]
 *
 * `--before` measures another checkout in the same run.
 */

import { parseArgs } from 'node:util';
import { makeSecret } from '../src/records/keys/secret.ts';
import { startBackend } from './backend.ts';
import { Children } from './children.ts';
import { Connection, OK } from './connection.ts';
import { cpuTime } from './cpu.ts';
import { stepAside } from './processors.ts';
import { spread } from './statistics.ts';
import { prepareStoregate } from './targets/storegate-process.ts';

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    requests: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '7' },
  },
});
const [requests, rounds] = [Number(values.requests), Number(values.rounds)];
const CONNECTIONS = 16;
const WAYS = {
  contract: '/pets',
  'mount of an upstream': '/upstream/pets',
  'mount of a target': '/target/pets',
};

stepAside();
const children = new Children();
try {
  const backend = await startBackend(children);
  const keys = {
    admitted: makeSecret('bench'),
    refused: makeSecret('bench'),
    unknown: makeSecret('bench'),
  };
  const surroundings = { children, backend, redis: null, node: process.execPath, keys };
  const more = [
    'mounts:',
    '  - { path: /upstream, upstream: default, stripPrefix: true }',
    `  - { path: /target, target: '${backend.url}', stripPrefix: true }`,
  ];
  const checkouts = values.before === undefined ? [undefined] : [values.before, undefined];
  const series: { name: string; pid: number; one: () => Promise<void>; microseconds: number[] }[] =
    [];
  for (const [i, project] of checkouts.entries()) {
    const gateway = await prepareStoregate(`storegate-${i}`, surroundings, {
      more,
      ...(project && { project }),
    });
    const { pid } = await children.start({ ...gateway.command, place: 'anywhere' });
    for (const [way, path] of Object.entries(WAYS)) {
      const one = await flood(Number(new URL(gateway.url).port), path, gateway.keys.admitted);
      series.push({ name: `${project ?? 'this checkout'}, ${way}`, pid, one, microseconds: [] });
    }
  }
  for (const { one } of series) await one();
  for (let round = 0; round < rounds; round++) {
    for (const { pid, one, microseconds } of series) {
      const before = cpuTime(pid);
      await one();
      microseconds.push((cpuTime(pid) - before) / requests);
    }
  }
  for (const { name, microseconds } of series) {
    const { median, min, max } = spread(microseconds);
    console.log(`${name}: ${median.toFixed(0)} µs (${min.toFixed(0)} to ${max.toFixed(0)})`);
  }
} finally {
  await children.close();
}

/** Returns a function that sends one round. */
async function flood(port: number, path: string, key: string): Promise<() => Promise<void>> {
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`;
  const connections = Array.from({ length: CONNECTIONS }, () => new Connection(port));
  return async () => {
    await Promise.all(
      connections.map(async (_, i) => {
        for (let sent = 0; sent < requests / CONNECTIONS; sent++) {
          // A gateway closes a connection after 1,000 requests.
          if (connections[i]!.ended) connections[i] = new Connection(port);
          const connection = connections[i]!;
          const outcome = await connection.ask(request);
          if (outcome !== OK) throw new Error(`${path} was answered with: ${outcome}`);
        }
      }),
    );
  };
}

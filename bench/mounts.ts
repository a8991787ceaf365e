/**
 * CPU of a mount, in microseconds per request: an operation, a mount with an upstream, and a mount
 * with a target (http-proxy-middleware), in turn on 16 connections to one nginx.
 *
 *     node --disable-warning=ExperimentalWarning bench/mounts.ts [--before COMMIT] [--requests N] [--rounds N]
 *
 * `--before` measures a commit in the same run.
 */

import { parseArgs } from 'node:util';
import { Connection, get, OK } from './connection.ts';
import { checkouts, withSurroundings } from './surroundings.ts';
import { startStoregate } from './targets/storegate-process.ts';
import { compareInTurns, type Series } from './turns.ts';

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

await withSurroundings(async (surroundings) => {
  const more = [
    'mounts:',
    '  - { path: /upstream, upstream: default, stripPrefix: true }',
    `  - { path: /target, target: '${surroundings.backend.url}', stripPrefix: true }`,
  ];
  const series: Series[] = [];
  for (const { name, folder } of checkouts(values.before, surroundings.children.folder)) {
    const gateway = await startStoregate(name, surroundings, { more, project: folder });
    const port = Number(new URL(gateway.url).port);
    for (const [way, path] of Object.entries(WAYS)) {
      const send = sender(port, get(path, gateway.keys.admitted));
      series.push({ name: `${name}, ${way}`, pid: gateway.pid, send });
    }
  }
  await compareInTurns(series, rounds);
});

/** Returns a function that sends one round. */
function sender(port: number, request: string): Series['send'] {
  const connections = Array.from({ length: CONNECTIONS }, () => new Connection(port));
  const send = async (connection: Connection) => {
    for (let sent = 0; sent < requests / CONNECTIONS; sent++) {
      const outcome = await connection.ask(request);
      if (outcome !== OK) throw new Error(`${request}: ${outcome}`);
    }
  };
  return async () => {
    await Promise.all(connections.map(send));
    return requests;
  };
}

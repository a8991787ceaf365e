/**
 * CPU of requests that no contract describes, in microseconds: an operation beside them, an API with backends, and one
 * with a target (http-proxy-middleware), in turn on 16 connections to one nginx.
 *
 *     node --disable-warning=ExperimentalWarning bench/undescribed.ts [--before COMMIT] [--requests N] [--rounds N]
 *
 * `--before` measures a commit in the same run.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { get, senderOf } from './connection.ts';
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
const WAYS = {
  contract: '/pets',
  'with backends': '/upstream/pets',
  'with a target': '/target/pets',
};

await withSurroundings(async (surroundings) => {
  const target = `target: '${surroundings.backend.url}'`;
  const apis = [
    'apis:',
    '  - { name: backends, path: /upstream, contract: none }',
    `  - { name: target, path: /target, contract: none, ${target} }`,
  ];
  /** Before 0.1.0. */
  const mounts = [
    'mounts:',
    '  - { path: /upstream, upstream: default, stripPrefix: true }',
    `  - { path: /target, stripPrefix: true, ${target} }`,
  ];
  const series: Series[] = [];
  for (const { name, folder } of checkouts(values.before, surroundings.children.folder)) {
    const gateway = await startStoregate(name, surroundings, {
      more: existsSync(join(folder, 'src/config/apis.ts')) ? apis : mounts,
      project: folder,
    });
    const port = Number(new URL(gateway.url).port);
    for (const [way, path] of Object.entries(WAYS)) {
      const send = senderOf(port, get(path, gateway.keys.admitted), requests);
      series.push({ name: `${name}, ${way}`, pid: gateway.pid, send });
    }
  }
  await compareInTurns(series, rounds);
});

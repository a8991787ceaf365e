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
import { readOptions } from './options.ts';
import { checkouts, withSurroundings } from './surroundings.ts';
import { startStoregate } from './targets/storegate-process.ts';
import { compareInTurns, type Series, seriesOf } from './turns.ts';

const { before, requests, rounds } = readOptions({ before: null, requests: 4_000, rounds: 7 });
const WAYS = {
  contract: '/pets',
  'with backends': '/upstream/pets',
  'with a target': '/target/pets',
};

await withSurroundings(async (surroundings) => {
  const target = surroundings.backend.url;
  const apis = [
    { name: 'backends', path: '/upstream', contract: 'none' },
    { name: 'target', path: '/target', contract: 'none', target },
  ];
  /** Before 0.1.0. */
  const mounts = [
    { path: '/upstream', upstream: 'default', stripPrefix: true },
    { path: '/target', stripPrefix: true, target },
  ];
  const series: Series[] = [];
  for (const { name, folder: project } of checkouts(before, surroundings.children.folder)) {
    const settings = existsSync(join(project, 'src/config/apis.ts')) ? { apis } : { mounts };
    const gateway = await startStoregate(name, surroundings, { project, settings });
    for (const [way, path] of Object.entries(WAYS))
      series.push(seriesOf(`${name}, ${way}`, gateway, path, requests));
  }
  await compareInTurns(series, rounds);
});

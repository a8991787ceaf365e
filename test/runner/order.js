import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/**
 * The suites that take longest, longest first. Most of their time they wait: for servers, deadlines
 * and pages.
 */
const LONG = [
  'browser',
  'journeys/backends',
  'journeys/faulty-nginx',
  'journeys/workers-life',
  'state/redis-return',
  'journeys/webhooks',
  'journeys/reload',
  'state/redis-faults',
  'state/redis-failures',
  'state/redis-topologies',
  'journeys/workers-as-one',
  'records/redis-absence',
  'records/redis-lost-data',
  'journeys/cold-start',
  'journeys/tls',
  'journeys/status',
  'deploy/kubernetes-mount',
  'journeys/workers',
  'deploy/package',
  'journeys/systemd',
  'state/redis-tls',
  'release/release',
  'journeys/tracing',
].map((name) => resolve(import.meta.dirname, `../${name}.test.ts`));

/**
 * The part of the short suites after which the last long suite starts, so that none of them runs
 * alone at the end.
 */
const SPREAD = 0.75;

/**
 * Starts the long suites first to last among the others, so that some suites compute while others
 * wait.
 */
export default class LongAmongShort extends Sequencer {
  async sort(tests) {
    const gone = LONG.filter((path) => !existsSync(path));
    if (gone.length > 0)
      throw new Error(`test/runner/order.js names suites that are gone: ${gone.join(', ')}`);
    const sorted = await super.sort(tests);
    const long = LONG.flatMap((path) => sorted.filter((test) => test.path === path));
    const short = sorted.filter(({ path }) => !LONG.includes(path));
    const each = (SPREAD * short.length) / long.length;
    const mixed = long.flatMap((test, i) => [
      test,
      ...short.slice(Math.round(i * each), Math.round((i + 1) * each)),
    ]);
    return [...mixed, ...short.slice(Math.round(long.length * each) || 0)];
  }
}

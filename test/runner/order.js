import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import Sequencer from '@jest/test-sequencer';

const LONG = [
  'journeys/workers-life',
  'journeys/workers-as-one',
  'journeys/workers',
  'journeys/faulty-nginx',
  'journeys/webhooks',
  'journeys/reload',
  'journeys/cold-start',
  'console/browser',
  'reference/browser',
  'cli/commands',
  'state/redis-failures',
  'journeys/scoped-limits',
  'state/redis-topologies',
  'journeys/history',
  'state/redis-return',
  'state/redis-key-cache',
  'journeys/crashes',
  'journeys/explain',
  'state/redis-tls',
  'hostile/proxies',
  'cli/keys-import-crash',
].map((name) => resolve(import.meta.dirname, `../${name}.test.ts`));

/** Starts the longest suites first, so that none of them runs alone at the end; the others keep the order of Jest. */
export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const gone = LONG.filter((path) => !existsSync(path));
    if (gone.length > 0) throw new Error(`test/runner/order.js names suites that are gone: ${gone.join(', ')}`);
    const place = ({ path }) => (LONG.includes(path) ? LONG.indexOf(path) : LONG.length);
    return [...(await super.sort(tests))].sort((a, b) => place(a) - place(b));
  }
}

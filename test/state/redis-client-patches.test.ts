import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/**
 * The version whose source `src/state/redis/client-patches.ts` was written for. Before it changes:
 * compare `setSocketTimeout` (Redis), `resetNodesRefreshInterval` (Cluster) and `connectToSentinel`
 * (SentinelConnector) of both versions, and look for an official way to do without a patch.
 */
const PATCHED = '6.0.0';

test('the patches of ioredis are for the pinned and installed version', () => {
  const root = join(import.meta.dirname, '../..');
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const { version } = read('node_modules/ioredis/package.json');
  expect([read('package.json').dependencies.ioredis, version]).toEqual([PATCHED, PATCHED]);
});

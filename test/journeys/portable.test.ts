import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');
/** Connections, bodies, uploads, WebSockets and stops, and what Node.js has beyond its documentation. */
const SUITES = [
  'packages/http1/test/internals.test.ts',
  'packages/http1/test/server.test.ts',
  'packages/http1/test/client.test.ts',
  'test/hostile/undescribed.test.ts',
  'test/hostile/uploads.test.ts',
];

test('the gateway works with documented interfaces of Node.js alone', () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['node_modules/jest/bin/jest.js', '--runInBand', '--silent', ...SUITES],
    { cwd: ROOT, env: { ...process.env, STOREGATE_PORTABLE: '1' }, encoding: 'utf8' },
  );
  expect([status, stderr.slice(-4_000)]).toEqual([
    0,
    expect.stringContaining(`Test Suites: ${SUITES.length} passed, ${SUITES.length} total`),
  ]);
});

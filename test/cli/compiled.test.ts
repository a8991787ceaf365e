import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { COMPILED } from '../support/storegate.ts';

const main = resolve(import.meta.dirname, '../../src/main.ts');

/** What Node tells of compiled modules while it runs the command. */
function told(env: Readonly<Record<string, string>> = {}): string {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', main, '--version'],
    { env: { PATH: process.env.PATH, NODE_DEBUG_NATIVE: 'COMPILE_CACHE', ...env }, encoding: 'utf8' },
  );
  expect(status).toBe(0);
  return stdout + stderr;
}

test('a command takes modules that an earlier one has compiled, from the folder beside them', () => {
  told();
  const second = told();
  expect(second).toMatch(/V8 code cache for ESM \S+\/src\/cli\/run\.ts was accepted/);
  expect(second).toContain(COMPILED);
});

test('and none where the environment says so', () => {
  expect(told({ NODE_DISABLE_COMPILE_CACHE: '1' })).not.toContain('was accepted');
});

import { spawnSync } from 'node:child_process';
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { COMPILED } from '../support/storegate.ts';

const main = resolve(import.meta.dirname, '../../src/main.js');

function cacheLog(env: Readonly<Record<string, string>> = {}, file = main): string {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', file, '--version'],
    {
      env: { PATH: process.env.PATH, NODE_DEBUG_NATIVE: 'COMPILE_CACHE', ...env },
      encoding: 'utf8',
    },
  );
  expect(status).toBe(0);
  return stdout + stderr;
}

test('a command uses modules that an earlier command compiled', () => {
  cacheLog();
  const second = cacheLog();
  expect(second).toMatch(/V8 code cache for ESM \S+\/src\/cli\/run\.ts was accepted/);
  expect(second).toContain(COMPILED);
});

test('a command compiles nothing if the environment disables it', () => {
  expect(cacheLog({ NODE_DISABLE_COMPILE_CACHE: '1' })).not.toContain('was accepted');
});

const asRoot = process.getuid?.() === 0 ? test : test.skip;
asRoot('root leaves nothing in the folder of somebody else, who could not remove it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  try {
    for (const name of ['src', 'node_modules']) mkdirSync(join(folder, name));
    const copy = join(folder, 'src/main.js');
    copyFileSync(main, copy);
    symlinkSync(resolve(main, '../cli'), join(folder, 'src/cli'));
    copyFileSync(resolve(main, '../../package.json'), join(folder, 'package.json'));
    const cache = join(folder, 'node_modules/.cache');
    chownSync(join(folder, 'node_modules'), 65_534, 65_534);
    cacheLog({}, copy);
    expect(existsSync(cache)).toBe(false);
    chownSync(join(folder, 'node_modules'), 0, 0);
    cacheLog({}, copy);
    expect(existsSync(cache)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { whileUnchanged } from '../../src/admin/plan-file.ts';
import { tryLock } from '../../src/common/lock.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folder = temporaryFolders();
let file: string;
beforeEach(() => {
  file = join(folder(), 'plans.yaml');
  writeFileSync(file, 'as read');
});

test('the second writer waits, and then finds the changed file', async () => {
  const lock = tryLock(`${file}.lock`)!;
  const waiting = whileUnchanged(file, 'as read', async () => 'written');
  writeFileSync(file, 'changed');
  lock.release();
  expect(await waiting).toBeNull();
  expect(await whileUnchanged(file, 'changed', async () => 'written')).toBe('written');
});

test('the lock is held until the work ends, and is released if it fails', async () => {
  const steps: string[] = [];
  const first = whileUnchanged(file, 'as read', async () => {
    steps.push('first begins');
    await new Promise((resolve) => setImmediate(resolve));
    steps.push('first ends');
    throw new Error('unfit');
  });
  const second = whileUnchanged(file, 'as read', async () => void steps.push('second'));
  await expect(first).rejects.toThrow('unfit');
  await second;
  expect(steps).toEqual(['first begins', 'first ends', 'second']);
});

test('the lock file is empty, stays, and has the mode of the plans file', async () => {
  await whileUnchanged(file, 'as read', async () => {});
  const { size, mode } = statSync(`${file}.lock`);
  expect({ size, mode }).toEqual({ size: 0, mode: statSync(file).mode });
  expect(readFileSync(file, 'utf8')).toBe('as read');
});

test('a folder that cannot hold a lock is reported', async () => {
  writeFileSync(`${file}.lock`, 'not a lock file');
  await expect(whileUnchanged(file, 'as read', async () => {})).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(`${file}.lock (file is not a database)`),
  });
});

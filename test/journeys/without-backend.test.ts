import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { storegate } from '../support/storegate.ts';
import { until } from '../support/until.ts';

const project = resolve(import.meta.dirname, '../..');
let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'storegate-'));
  const backend = join(project, 'src/store');
  cpSync(join(project, 'src'), join(copy, 'src'), {
    recursive: true,
    filter: (file) => file !== backend,
  });
  for (const name of ['config', 'node_modules', 'package.json', 'packages', 'plans.yaml'])
    symlinkSync(join(project, name), join(copy, name));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

test('a gateway with BACKEND_URL starts without the source of the backend', async () => {
  const running = storegate(['serve'], {
    cwd: copy,
    env: { BACKEND_URL: 'http://127.0.0.1:9', STOREGATE_PORT: '0', STOREGATE_ADMIN_PORT: '0' },
    main: join(copy, 'src/main.js'),
  });
  let hasEnded = false;
  void running.exit.then(() => {
    hasEnded = true;
  });
  await until(
    'it has started or ended',
    () => running.out().includes('"msg":"started"') || hasEnded,
  );
  expect(running.err()).toBe('');
  running.child.kill('SIGTERM');
  expect(await running.exit).toBe(0);
});

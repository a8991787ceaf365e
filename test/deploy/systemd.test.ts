import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { environmentVariables } from '../../src/config/environment.ts';
import { loadConfig } from '../../src/config/load.ts';
import { program } from '../runner/programs.ts';
import { temporaryFolders } from '../support/temporary.ts';

const root = resolve(import.meta.dirname, '../..');
const FILES = ['storegate.service', 'storegate.socket'] as const;
const textOf = (file: (typeof FILES)[number]) =>
  readFileSync(join(root, 'deploy/systemd', file), 'utf8');
const service = textOf('storegate.service');
const socket = textOf('storegate.socket');
const all = (unit: string, name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, v]) => v!);
const one = (unit: string, name: string) => all(unit, name)[0];

test('the unit and the gateway agree', () => {
  const { http, listen } = loadConfig({ cwd: root, env: {} });
  expect(Number(one(service, 'TimeoutStopSec')) * 1000).toBeGreaterThan(
    http.drainDelay + http.drainTimeout,
  );
  // Where npm installs the package.
  const folder = one(service, 'WorkingDirectory');
  expect(one(service, 'ExecStart')).toBe(
    `${folder}/node_modules/.bin/storegate serve --no-demo-keys`,
  );
  expect(one(service, 'Documentation')).toBe(`file://${folder}/node_modules/storegate/README.md`);
  expect(readFileSync(join(root, 'docs/deploy.md'), 'utf8')).toContain(
    `npm install --prefix ${folder} `,
  );
  const settings = Object.fromEntries(
    all(service, '#?Environment').map((pair) => pair.split('=') as [string, string]),
  );
  expect(settings.STOREGATE_DATA).toBe(`/var/lib/${one(service, 'StateDirectory')}`);
  for (const name of ['STOREGATE_CONFIG', 'STOREGATE_PLANS'])
    expect(settings[name]).toContain(`/etc/${one(service, 'ConfigurationDirectory')}/`);
  const existing = environmentVariables();
  for (const name of Object.keys(settings))
    expect(existing.has(name) || existing.has(name.replace(/_FILE$/, ''))).toBe(true);
  const credentials = all(service, '#LoadCredential').map((value) => `%d/${value.split(':')[0]}`);
  expect(Object.values(settings).filter((value) => value.startsWith('%d/'))).toEqual(credentials);
  expect(one(socket, 'ListenStream')).toBe(`${listen.port}`);
  expect(one(socket, 'FileDescriptorName')).toBe('public');
});

describe('systemd', () => {
  const temporary = temporaryFolders();
  let analyze: string;
  beforeAll(() => {
    analyze = program('systemd-analyze');
  });

  /** Copies that name programs of this machine. */
  function units(): string[] {
    const folder = temporary();
    writeFileSync(
      join(folder, FILES[0]),
      service.replace(/ExecStart=\S+/, `ExecStart=${process.execPath}`),
    );
    writeFileSync(join(folder, FILES[1]), socket);
    return FILES.map((file) => join(folder, file));
  }

  function run(...args: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync(analyze, [...args], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  }

  test('accepts the units without a warning', () => {
    run('verify', '--man=no', '--recursive-errors=no', ...units());
  });

  test('finds an exposure of at most 1.5', () => {
    run('security', '--offline=true', '--threshold=15', '--no-pager', units()[0]!);
  });
});

import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/load.ts';
import { commandLine } from '../support/command-line.ts';
import { loadPlans } from '../support/load-plans.ts';
import { folderWith } from './folder.ts';
import { mistakesOf } from './mistakes.ts';

const plans = 'plans:\n  free: { custom: true }\n';

describe('a file that cannot be read', () => {
  test('is reported as missing, by its path relative to the working folder and the variable that names it', () => {
    const cwd = folderWith();
    const env = { STOREGATE_CONFIG: 'conf/gateway.yaml', STOREGATE_PLANS: 'plans.yaml' };
    expect(mistakesOf(() => loadConfig({ env, cwd }))).toEqual([
      'conf/gateway.yaml: does not exist; correct STOREGATE_CONFIG',
      'plans.yaml: does not exist; correct STOREGATE_PLANS',
    ]);
  });

  test('is reported with the setting that names it', () => {
    const cwd = folderWith({ 'gateway.yaml': 'plans: { file: gone.yaml }\n' });
    expect(mistakesOf(() => loadConfig({ env: {}, cwd }))).toEqual([
      'gone.yaml: does not exist; correct plans.file',
    ]);
  });

  test.each([
    ['addresses.allow', 'addresses: { allow: [{ file: gone }] }', {}],
    [
      'apis[0].addresses.deny',
      'apis: [{ name: a, path: /a, contract: none, stripPath: false, target: "http://a", addresses: { deny: [{ file: gone }] } }]',
      {},
    ],
    ['contract.file', 'contract: { file: gone }', {}],
    ['STOREGATE_CONTRACT', '{}', { STOREGATE_CONTRACT: 'gone' }],
    ['plans.file', 'plans: { file: gone }', {}],
    ['STOREGATE_CONFIG', '{}', { STOREGATE_CONFIG: 'gone' }],
    ['STOREGATE_TLS_CERT', '{}', { STOREGATE_TLS_CERT: 'gone', STOREGATE_TLS_KEY: 'gone' }],
    ['upstream.tls.ca', 'upstream: { tls: { ca: gone } }', {}],
    ['REDIS_URL_FILE', '{}', { REDIS_URL_FILE: 'gone' }],
  ])('is reported with %s, which names it (%s, %j)', async (name, settings, env) => {
    const cwd = folderWith({ 'gateway.yaml': `${settings}\n` });
    const { code, err } = await commandLine(cwd)(['check'], { env });
    expect(code).toBe(1);
    expect(
      err.split('\n').filter((line) => line.includes(name) && /does not exist/.test(line)),
    ).toEqual([expect.any(String)]);
  });

  test('is refused if it is a folder', () => {
    const cwd = folderWith({ 'plans.yaml/inner': '' });
    expect(mistakesOf(() => loadPlans('plans.yaml', cwd))).toEqual([
      'plans.yaml: must be a file, is a folder',
    ]);
  });

  test.each(['gateway.yaml', 'plans.yaml'])('is refused if it is empty: %s', (name) => {
    const cwd = folderWith({ 'gateway.yaml': '{}', 'plans.yaml': plans, [name]: '' });
    const env = { STOREGATE_CONFIG: 'gateway.yaml', STOREGATE_PLANS: 'plans.yaml' };
    expect(mistakesOf(() => loadConfig({ env, cwd }))).toEqual([
      `${name}:1:1: must be a map, is empty; write {} if it is to set nothing`,
    ]);
  });

  test('is refused if it is a device, which may never end', () => {
    expect(mistakesOf(() => loadPlans('/dev/zero', '/nowhere'))).toEqual([
      '/dev/zero: must be a regular file',
    ]);
  });

  test('is refused if it is larger than 1 MiB, before it is parsed', () => {
    const cwd = folderWith({ 'plans.yaml': `${plans}${'#'.repeat(1024 * 1024)}` });
    const size = plans.length + 1024 * 1024;
    expect(mistakesOf(() => loadPlans('plans.yaml', cwd))).toEqual([
      `plans.yaml: must be at most 1MiB, has ${size} bytes`,
    ]);
  });

  test('is refused if it is not UTF-8', () => {
    const cwd = folderWith({ 'plans.yaml': Uint8Array.of(0x61, 0xff, 0xfe) });
    expect(mistakesOf(() => loadPlans('plans.yaml', cwd))).toEqual([
      'plans.yaml: must be UTF-8 text',
    ]);
  });

  test('is refused if it is a link to itself', () => {
    const cwd = folderWith();
    symlinkSync('plans.yaml', join(cwd, 'plans.yaml'));
    expect(mistakesOf(() => loadPlans('plans.yaml', cwd))).toEqual([
      'plans.yaml: cannot be read (ELOOP)',
    ]);
  });

  // The superuser may read everything.
  const testAsUser = process.getuid?.() === 0 ? test.skip : test;
  testAsUser('is refused without the permission to read it', () => {
    const cwd = folderWith({ 'plans.yaml': plans });
    chmodSync(join(cwd, 'plans.yaml'), 0o000);
    expect(mistakesOf(() => loadPlans('plans.yaml', cwd))).toEqual([
      'plans.yaml: cannot be read: permission denied',
    ]);
  });

  test('does not prevent the check of the other file', () => {
    const cwd = folderWith({ 'plans.yaml': 'plans: {}\n' });
    const env = {
      STOREGATE_CONFIG: 'gone.yaml',
      STOREGATE_PLANS: 'plans.yaml',
      STOREGATE_ADMIN_HOST: '0.0.0.0',
    };
    expect(mistakesOf(() => loadConfig({ env, cwd }))).toEqual([
      'gone.yaml: does not exist; correct STOREGATE_CONFIG',
      'plans.yaml:1:8 plans: must have at least 1 entry',
    ]);
  });
});

describe('a file is read', () => {
  test.each([
    ['with a byte order mark', `\uFEFF${plans}`],
    ['with Windows line ends', plans.replaceAll('\n', '\r\n')],
    ['as JSON', '{"plans": {"free": {"custom": true}}}'],
    [
      'with anchors and aliases',
      `${plans}  pro: { windows: &w [{ limit: 1, per: day }] }\n  max: { windows: *w }\n`,
    ],
  ])('%s', (_, content) => {
    const cwd = folderWith({ 'plans.yaml': content });
    expect(loadPlans('plans.yaml', cwd).plans.get('free')).toEqual({
      name: 'free',
      count: 'key',
      windows: null,
    });
  });

  test.each([
    ['open brackets', '['.repeat(1_000_000), '1:400001'],
    ['lines', '- 1\n'.repeat(250_000), '200001:1'],
  ])('with a bounded number of %s', (_, content, place) => {
    const cwd = folderWith({ 'plans.yaml': content });
    expect(mistakesOf(() => loadPlans('plans.yaml', cwd))).toEqual([
      `plans.yaml:${place}: must not hold more than 100000 values`,
    ]);
  });

  test('with columns counted from 1 behind a byte order mark', () => {
    const cwd = folderWith({ 'plans.yaml': '\uFEFFplan: {}\n' });
    expect(mistakesOf(() => loadPlans('plans.yaml', cwd))).toContain(
      'plans.yaml:1:1 plan: is unknown; did you mean plans?',
    );
  });

  test('with the path of the use and the position of the mistake for an aliased value', () => {
    const cwd = folderWith({
      'plans.yaml': 'plans:\n  a: &a { count: user, custom: true }\n  b: *a\n',
    });
    const wrong = 'must be key or account, is "user"';
    expect(mistakesOf(() => loadPlans('plans.yaml', cwd))).toEqual([
      `plans.yaml:2:18 plans.a.count: ${wrong}`,
      `plans.yaml:2:18 plans.b.count: ${wrong}`,
    ]);
  });
});

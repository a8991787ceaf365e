import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { findDataFolder } from '../../src/config/data-folder.ts';
import { loadConfig } from '../../src/config/load.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folderOf = temporaryFolders();

function folderWith(text: string | null): string {
  const cwd = folderOf();
  if (text !== null) writeFileSync(join(cwd, 'gateway.yaml'), text);
  return cwd;
}

test.each<[string, string | null, Record<string, string>]>([
  ['the default', '{}', {}],
  ['the default without a file', null, {}],
  ['a line', 'workers: 1\ndata: /var/lib/own # ours\nlog: {}\n', {}],
  ['a continued line', 'data:\n  own\nlog: {}\n', {}],
  ['a quoted name', '"data": own\n', {}],
  ['one map', '{ log: {}, data: own }\n', {}],
  ['the environment', 'data: own\n', { STOREGATE_DATA: 'other' }],
])('the data folder of %s is that of the settings', (_, text, env) => {
  const cwd = folderWith(text);
  expect(findDataFolder({ cwd, env })).toBe(loadConfig({ cwd, env }).data);
});

test.each([
  ['an unknown field', 'nonsense: true\ndata: own\n', 'own'],
  ['an open bracket before it', 'http: {\ndata: own\n', 'own'],
  ['an invalid value', 'data: [own]\n', 'data'],
  ['no map', 'just text', 'data'],
  ['a million open brackets', '['.repeat(1_000_000), 'data'],
])('the data folder of a file with %s is found', (_, text, folder) => {
  const cwd = folderWith(text);
  expect(() => loadConfig({ cwd, env: {} })).toThrow('gateway.yaml');
  expect(findDataFolder({ cwd, env: {} })).toBe(resolve(cwd, folder));
});

test('the data folder of a file that cannot be read is unknown, except from the environment', () => {
  const cwd = folderOf();
  mkdirSync(join(cwd, 'gateway.yaml'));
  expect(findDataFolder({ cwd, env: {} })).toBeNull();
  expect(findDataFolder({ cwd, env: { STOREGATE_CONFIG: 'gone.yaml' } })).toBeNull();
  expect(findDataFolder({ cwd, env: { STOREGATE_DATA: 'own' } })).toBe(join(cwd, 'own'));
});

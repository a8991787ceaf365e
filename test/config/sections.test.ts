import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Config } from '../../src/config/config.ts';
import { describeConfig } from '../../src/config/describe.ts';
import { loadConfig, loadSections } from '../../src/config/load.ts';
import { ConfigError, UnusableSection } from '../../src/config/problems/problems.ts';
import { folderWith } from './folder.ts';

const PLANS = 'plans:\n  free: { windows: [{ limit: 2, per: minute }] }\n';
const TYPO = PLANS.replace('limit', 'limt');

function files(gateway: string, plans = PLANS) {
  const cwd = folderWith({ 'gateway.yaml': `plans: { file: plans.yaml }\n${gateway}` });
  writeFileSync(join(cwd, 'plans.yaml'), plans);
  return { cwd, env: {} };
}

const unusable = (config: Config): string[] =>
  Object.keys(config).filter((name) => {
    try {
      return config[name as keyof Config] === undefined;
    } catch (error) {
      if (!(error instanceof UnusableSection)) throw error;
      expect(error.message).toMatch(/^(gateway|plans|blocked)\.\w+:?/);
      return true;
    }
  });

test.each([
  ['in no file', [], '', PLANS],
  ['in plans.yaml', ['plans'], '', TYPO],
  ['in a section', ['http'], 'http: { maxBodyBytes: lots }', PLANS],
  ['in two sections and plans.yaml', ['log', 'plans', 'http'], 'log: { x: 1 }\nhttp: 1', TYPO],
  ['of two settings together', ['workers'], 'workers: 4', PLANS],
  ['in a list', ['apis', 'addresses'], 'addresses: { deny: [{ file: blocked.txt }] }', PLANS],
])('a mistake %s makes only the sections %j unusable', (_, sections, gateway, plans) => {
  const options = files(gateway, plans);
  const config = loadSections(options);
  expect(new Set(unusable(config))).toEqual(new Set(sections));
  const isWhole = sections.length === 0;
  const origins = () => describeConfig(config);
  if (isWhole) expect(origins()).not.toEqual([]);
  else expect(origins).toThrow(UnusableSection);
  if (isWhole) expect(config).toEqual(loadConfig(options));
  else expect(() => loadConfig(options)).toThrow(ConfigError);
});

test('an unusable name of the plans file names no other file', () => {
  const cwd = folderWith({ 'gateway.yaml': 'plans: { file: 7 }\n' });
  expect(unusable(loadSections({ cwd, env: {} })).sort()).toEqual(['files', 'plans']);
});

test.each<[string, string, Record<string, string>]>([
  ['a misspelled section', 'rediss: { url: redis://127.0.0.1 }', {}],
  ['a file that is not YAML', 'http: {', {}],
  ['a variable', '', { STOREGATE_PORT: 'x' }],
  ['a misspelled variable', '', { STOREGATE_DTA: 'elsewhere' }],
])('%s makes every section unusable', (_, gateway, env) => {
  expect(() => loadSections({ ...files(gateway), env })).toThrow(ConfigError);
});

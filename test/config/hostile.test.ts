import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError, formatProblem } from '../../src/config/problems/problems.ts';
import { folderWith } from './folder.ts';
import { mistakesOf } from './mistakes.ts';

const words = [
  'plans',
  'accounts',
  'bans',
  'free',
  'windows',
  'limit',
  'per',
  'kind',
  'custom',
  'lengths',
  'strikes',
];
const settings = [
  'listen',
  'port',
  'admin',
  'host',
  'token',
  'http',
  'authFailureLimit',
  'apis',
  'path',
  'target',
  'cors',
];
const scalars = [
  'off',
  'minute',
  '10s',
  '16KiB',
  '*',
  '/a',
  'http://a',
  '__proto__',
  1,
  0,
  -1,
  1.5,
  true,
  null,
  '',
];

const tree = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, fc.constantFrom<unknown>(...scalars), tie('map'), tie('list')),
  map: fc.dictionary(fc.constantFrom(...words, ...settings, '__proto__', 'a.b/c~d'), tie('value'), {
    maxKeys: 5,
  }),
  list: fc.array(tie('value'), { maxLength: 4 }),
}));
const text = fc.oneof(
  tree.map.map((value) => JSON.stringify(value)),
  fc.stringMatching(/^[-:#&*!|>'"%@`{}[\], \t\na-c0-9]{0,60}$/),
  fc.string({ unit: 'binary' }),
);

const nullIn = (section: string): [string, string] => ['', `{"${section}":null}`];

test('loading any files results in a configuration or a list of mistakes, one line each', () => {
  const cwd = folderWith();
  const env = { STOREGATE_CONFIG: 'gateway.yaml', STOREGATE_PLANS: 'plans.yaml' };
  fc.assert(
    fc.property(text, text, (gateway, plans) => {
      writeFileSync(join(cwd, 'gateway.yaml'), gateway);
      writeFileSync(join(cwd, 'plans.yaml'), plans);
      try {
        expect(loadConfig({ env, cwd }).plans.plans.size).toBeGreaterThan(0);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        expect(error.problems.length).toBeGreaterThan(0);
        for (const problem of error.problems)
          expect(formatProblem(problem)).toMatch(/^[^\p{Cc}\p{Zl}\p{Zp}]+$/u);
      }
    }),
    { numRuns: 300, examples: ['plans', 'accounts', 'public', 'bans'].map(nullIn) },
  );
});

test('a thousand APIs are read, and each mistake names the first of its kind', () => {
  const apis = Array.from({ length: 1_000 }, (_, i) => ({
    name: `api-${i % 999}`,
    path: `/api-${i % 998}`,
    contract: 'none',
    target: 'http://127.0.0.1:1',
  }));
  const cwd = folderWith({ 'gateway.yaml': JSON.stringify({ apis }, null, 1) });
  expect(
    mistakesOf(() => loadConfig({ env: {}, cwd })).map((one) => one.replace(/^\S+ /, '')),
  ).toEqual([
    'apis[998].path: is the place of api-0, an API above',
    'apis[999].name: is the name of an API above',
    'apis[999].path: is the place of api-1, an API above',
  ]);
});

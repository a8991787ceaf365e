import { availableParallelism } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/load.ts';
import { folderWith } from './folder.ts';
import { mistakesOf } from './mistakes.ts';

const REDIS = { REDIS_URL: 'redis://127.0.0.1' };
const workersOf = (env: Record<string, string>, gateway = '{}') => {
  const cwd = folderWith({ 'gateway.yaml': gateway });
  return loadConfig({ env: { STOREGATE_CONFIG: 'gateway.yaml', ...env }, cwd }).workers;
};

describe('workers', () => {
  test('are one by default', () => {
    expect([workersOf({}), workersOf(REDIS)]).toEqual([1, 1]);
  });

  test('with auto: one per processor with shared state, and one with embedded state', () => {
    expect(workersOf(REDIS, 'workers: auto')).toBe(availableParallelism());
    expect(workersOf({ STOREGATE_WORKERS: 'auto' })).toBe(1);
  });

  test('are as many as in the file, or in the environment, which overrides it', () => {
    expect(workersOf(REDIS, 'workers: 3')).toBe(3);
    expect(workersOf({ ...REDIS, STOREGATE_WORKERS: '2' }, 'workers: 3')).toBe(2);
    expect(workersOf({ STOREGATE_WORKERS: '1' }, 'workers: auto')).toBe(1);
  });

  test.each([
    ['redis://a', []],
    ['redis://a/0', []],
    ['redis://a/3', [/^gateway\.yaml:1:\d+ redis\.topology: a Cluster has database 0 alone, /]],
  ])('in a Cluster share its only database: %s', (url, mistakes) => {
    const cwd = folderWith({ 'gateway.yaml': 'redis: { topology: cluster }' });
    const env = { STOREGATE_CONFIG: 'gateway.yaml', REDIS_URL: url };
    const load = () => loadConfig({ env, cwd });
    if (mistakes.length === 0) return void load();
    expect(mistakesOf(load)).toEqual(mistakes.map((one) => expect.stringMatching(one)));
  });

  test('above one without Redis are a mistake of their source', () => {
    const cwd = folderWith({ 'gateway.yaml': 'workers: 1' });
    const env = { STOREGATE_CONFIG: 'gateway.yaml', STOREGATE_WORKERS: '2' };
    expect(mistakesOf(() => loadConfig({ env, cwd }))).toEqual([
      expect.stringMatching(
        /^STOREGATE_WORKERS: 2 workers need shared state, .*REDIS_URL.* workers: 1$/,
      ),
    ]);
  });
});

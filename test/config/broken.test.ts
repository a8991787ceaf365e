import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/load.ts';
import { loadPlans } from '../support/load-plans.ts';
import { mistakesOf } from './mistakes.ts';

const cwd = join(import.meta.dirname, 'broken');

/** The comments at the start of a file are the exact messages. */
function expectedOf(file: string): string[] {
  const lines = readFileSync(join(cwd, file), 'utf8').split('\n');
  const end = lines.findIndex((line) => !line.startsWith('# '));
  return lines.slice(0, end).map((line) => line.slice(2));
}

const files = readdirSync(cwd);

describe('a broken gateway.yaml is reported with the exact mistakes:', () => {
  test.each(files.filter((file) => file.startsWith('gateway-')))('%s', (file) => {
    expect(mistakesOf(() => loadConfig({ env: { STOREGATE_CONFIG: file }, cwd }))).toEqual(
      expectedOf(file),
    );
  });
});

describe('a broken plans.yaml is reported with the exact mistakes:', () => {
  test.each(files.filter((file) => file.startsWith('plans-')))('%s', (file) => {
    expect(mistakesOf(() => loadPlans(file, cwd))).toEqual(expectedOf(file));
  });
});

test('mistakes of the environment and of both files are reported at once', () => {
  const env = {
    STOREGATE_CONFIG: 'gateway-wrong-port.yaml',
    STOREGATE_PLANS: 'plans-none.yaml',
    LOG_LEVEL: 'loud',
  };
  expect(mistakesOf(() => loadConfig({ env, cwd }))).toEqual([
    'LOG_LEVEL: must be fatal, error, warn, info, debug, trace or silent, is "loud"',
    ...expectedOf('gateway-wrong-port.yaml'),
    ...expectedOf('plans-none.yaml'),
  ]);
});

import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '../..');

interface Report {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

let report: Report;
beforeAll(() => {
  const config = {
    rootDir: root,
    testMatch: ['<rootDir>/test/runner/fixtures/*.ts'],
    testEnvironment: '<rootDir>/test/runner/environment.ts',
    testRunner: '<rootDir>/test/runner/run-suite.ts',
    transform: {},
  };
  const jest = resolve(root, 'node_modules/jest/bin/jest.js');
  const args = [jest, '--json', '--forceExit', '--config', JSON.stringify(config)];
  const env = {
    ...process.env,
    FORCE_COLOR: '0',
    STOREGATE_TEST_DEPTH: '',
    STOREGATE_TEST_SEED: '20260101',
  };
  report = JSON.parse(
    spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' }).stdout,
  );
});

describe('a suite with failures', () => {
  test('has the status of each of its tests', () => {
    const statuses = report.testResults[0]!.assertionResults.map(
      ({ fullName, status }) => `${status}: ${fullName}`,
    );
    expect(statuses).toEqual([
      'passed: passes',
      'failed: fails an expectation',
      'failed: throws after waiting',
      'failed: has an uncaught error',
      'failed: has an unhandled rejection',
      'passed: waits late for a promise that was rejected',
      'failed: fails a property',
      'passed: does a tenth of the random runs',
      'failed: never ends',
      'failed: announces an assertion that does not come',
      'passed: leaves a server',
      'passed: leaves fake timers',
      'pending: is skipped',
      'failed: with a hook that fails fails without being run',
      'passed: with an end that fails passes nevertheless',
      'passed: finds a program that is installed',
    ]);
  });

  test('fails the run, with each error and its line', () => {
    expect(report.success).toBe(false);
    const { message } = report.testResults[0]!;
    for (const error of ['late', 'uncaught', 'unhandled', 'hook', 'end'])
      expect(message).toContain(error);
    expect(message).toContain('Exceeded timeout of 20 ms');
    expect(message).toContain('The suite left something running: 1 TCPServerWrap');
    expect(message).toContain('fixtures/failures.ts:8:');
  });

  test('shows the seed of a random failure, taken from STOREGATE_TEST_SEED, and the line of the property', () => {
    const { message } = report.testResults[0]!;
    expect(message).toContain('{ seed: 20260101, ');
    expect(message).toMatch(/> \d+ \| {3}fc\.assert\(fc\.property\(fc\.nat\(\)/);
  });
});

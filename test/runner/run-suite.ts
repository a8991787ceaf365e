import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { type AssertionResult, createEmptyTestResult, type TestResult } from '@jest/test-result';
import type { Circus, Config } from '@jest/types';
import { addEventHandler, getState, resetState, run } from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import { startCost } from './cpu-time.ts';
import { restoreAll } from './globals.ts';
import { leftoverErrors, noteRunning } from './leftovers.ts';
import { noteSkipped } from './programs.ts';

const GLOBALS = new URL('./globals.ts', import.meta.url).href;
const FAST_CHECK = new URL('./fast-check.ts', import.meta.url).href;

/**
 * Node loads tests and the code under test; Jest and fast-check modules are shared by all suites of
 * a worker.
 */
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: GLOBALS, shortCircuit: true };
    if (specifier === 'fast-check' && context.parentURL !== FAST_CHECK)
      return { url: FAST_CHECK, shortCircuit: true };
    return next(specifier, context);
  },
});

addEventHandler(async (event) => {
  if (event.name === 'test_start') jestExpect.setState({ currentTestName: nameOf(event.test) });
  if (event.name === 'test_done')
    event.test.errors.push(...unseenErrors(), ...(await unhandledRejections()));
  if (event.name === 'run_finish') {
    const { unhandledErrors, testTimeout } = getState();
    unhandledErrors.push(
      ...(await unhandledRejections()),
      ...(await leftoverErrors(testTimeout / 10)),
    );
  }
});

export default async function runSuite(
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  _environment: unknown,
  _runtime: unknown,
  testPath: string,
): Promise<TestResult> {
  const cost = startCost();
  resetState();
  noteRunning();
  const state = getState();
  state.testTimeout = globalConfig.testTimeout ?? config.testTimeout ?? state.testTimeout;
  if (globalConfig.testNamePattern)
    state.testNamePattern = new RegExp(globalConfig.testNamePattern, 'i');
  jestExpect.setState({ testPath, expand: globalConfig.expand });
  process.on('uncaughtException', fails);
  process.on('unhandledRejection', isUnhandled);
  process.on('rejectionHandled', isHandled);
  try {
    await import(pathToFileURL(testPath).href);
    const result = resultOf(await run(), globalConfig, config, testPath);
    return noteSkipped() ? skipped(result) : result;
  } finally {
    process.off('uncaughtException', fails);
    process.off('unhandledRejection', isUnhandled);
    process.off('rejectionHandled', isHandled);
    restoreAll();
    cost.note(testPath);
  }
}

/** An uncaught error fails the running test, or else the suite. */
function fails(error: unknown): void {
  const { currentlyRunningTest, unhandledErrors } = getState();
  (currentlyRunningTest?.errors ?? unhandledErrors).push(error as Circus.Exception);
}

// Tests may replace the timers.
const { setImmediate } = globalThis;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Unhandled rejections. A test that awaits the promise before it ends has handled the rejection.
 */
const unhandled = new Map<Promise<unknown>, Circus.Exception>();
const isUnhandled = (error: unknown, promise: Promise<unknown>) =>
  void unhandled.set(promise, error as Circus.Exception);
const isHandled = (promise: Promise<unknown>) => void unhandled.delete(promise);

async function unhandledRejections(): Promise<Circus.Exception[]> {
  // Node reports a rejection as handled only after the current microtasks.
  if (unhandled.size > 0) await nextTurn();
  const errors = [...unhandled.values()];
  unhandled.clear();
  return errors;
}

/**
 * Failures that `expect` recorded without throwing: soft failures, and announced assertions that
 * did not run.
 */
function unseenErrors(): Circus.TestError[] {
  const { suppressedErrors } = jestExpect.getState();
  jestExpect.setState({ suppressedErrors: [] });
  return [
    ...suppressedErrors,
    ...jestExpect.extractExpectedAssertionsErrors().map(({ error }) => error),
  ];
}

function nameOf(test: Circus.TestEntry): string {
  const names = [test.name];
  for (let block = test.parent; block.parent; block = block.parent) names.unshift(block.name);
  return names.join(' ');
}

function resultOf(
  { testResults, unhandledErrors, unhandledErrorsDetailed }: Circus.RunResult,
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  testPath: string,
): TestResult {
  const results = testResults.map(assertionResult);
  const count = (status: AssertionResult['status']) =>
    results.filter((one) => one.status === status).length;
  const failed = formatResultsErrors(results, config, globalConfig, testPath) ?? '';
  const unhandled = unhandledErrorsDetailed.map((error) =>
    formatExecError(error, config, globalConfig),
  );
  return {
    ...createEmptyTestResult(),
    failureMessage: [failed, ...unhandled].join('\n').trim() || null,
    numFailingTests: count('failed'),
    numPassingTests: count('passed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    ...(unhandledErrors.length > 0 && {
      testExecError: { message: '', stack: unhandledErrors.join('\n') },
    }),
    testFilePath: testPath,
    testResults: results,
  };
}

/** The only failure of a suite whose program is not installed is the missing program. */
function skipped(result: TestResult): TestResult {
  const testResults = result.testResults.map(
    (one): AssertionResult => ({
      ...one,
      status: 'pending',
      failureMessages: [],
      failureDetails: [],
    }),
  );
  const { testFilePath } = result;
  return {
    ...createEmptyTestResult(),
    testFilePath,
    testResults,
    numPendingTests: testResults.length,
    skipped: true,
  };
}

function assertionResult(result: Circus.TestResult): AssertionResult {
  const [, ...names] = result.testPath;
  return {
    ancestorTitles: names.slice(0, -1),
    duration: result.duration ?? null,
    failureDetails: [...result.errorsDetailed],
    failureMessages: [...result.errors],
    fullName: names.join(' '),
    invocations: result.invocations,
    location: result.location ?? null,
    numPassingAsserts: result.numPassingAsserts,
    retryReasons: [...result.retryReasons],
    startAt: result.startedAt ?? null,
    status: statusOf(result),
    title: names.at(-1)!,
  };
}

function statusOf({ status, errors }: Circus.TestResult): AssertionResult['status'] {
  if (status === 'skip') return 'pending';
  if (status === 'todo') return 'todo';
  return errors.length > 0 ? 'failed' : 'passed';
}

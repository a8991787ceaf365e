import { jestExpect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

export { afterAll, afterEach, beforeAll, beforeEach, describe, test } from 'jest-circus';
export { jestExpect as expect };

const mocker = new ModuleMocker(globalThis);
const noTimers = { fakeTimers: {}, rootDir: import.meta.dirname, testMatch: [] };
const timers = new ModernFakeTimers({ config: noTimers as never, global: globalThis });

export const jest = {
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  useFakeTimers: (config?: Parameters<ModernFakeTimers['useFakeTimers']>[0]) =>
    timers.useFakeTimers(config),
  useRealTimers: () => timers.useRealTimers(),
  getTimerCount: () => timers.getTimerCount(),
  /** Leaves timers and the monotonic clock as they are. */
  setSystemTime: (now: number) => timers.setSystemTime(now),
  advanceTimersByTimeAsync: (milliseconds: number) => timers.advanceTimersByTimeAsync(milliseconds),
};

/** Restores what a suite may have left replaced. */
export function restoreAll(): void {
  timers.useRealTimers();
  mocker.restoreAllMocks();
}

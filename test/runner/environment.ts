import type { JestEnvironment } from '@jest/environment';
import { ModuleMocker } from 'jest-mock';

/**
 * The realm of Node itself in place of a `vm` context per suite: each Jest worker loads modules
 * only once.
 */
export default class NodeRealm implements JestEnvironment {
  readonly global = { process: { exit: process.exit } } as unknown as JestEnvironment['global'];
  readonly fakeTimers = null;
  readonly fakeTimersModern = null;
  readonly moduleMocker = new ModuleMocker(globalThis);

  /**
   * As many frames as in the product. Jest records 100 for each error and each call of `expect`.
   */
  async setup(): Promise<void> {
    Error.stackTraceLimit = 10;
  }

  async teardown(): Promise<void> {}

  getVmContext(): null {
    return null;
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }
}

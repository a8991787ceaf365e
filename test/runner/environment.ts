import type { JestEnvironment } from '@jest/environment';
import { ModuleMocker } from 'jest-mock';

/**
 * The realm of Node itself in place of a `vm` context for each suite. Modules are loaded once for each worker of Jest, by Node, and
 * not once for each suite; a suite costs what it does.
 */
export default class NodeRealm implements JestEnvironment {
  /** What Jest writes to: its console and its `process.exit`. Tests have those of Node. */
  readonly global = { process: { exit: process.exit } } as unknown as JestEnvironment['global'];
  readonly fakeTimers = null;
  readonly fakeTimersModern = null;
  readonly moduleMocker = new ModuleMocker(globalThis);

  /** As many frames as in the product. Jest has 100 recorded for each error, and for each call of `expect`. */
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

import { availableParallelism, totalmem } from 'node:os';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18))
  throw new Error(
    `Tests need Node.js 22.18, and this is ${process.version}. Start them with npm test, which uses the Node.js of node_modules.`,
  );

/** Tests are TypeScript modules that Node loads by itself, as it does when the product runs (test/runner/). */
export default {
  testEnvironment: '<rootDir>/test/runner/environment.ts',
  testRunner: '<rootDir>/test/runner/run-suite.ts',
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/packages/*/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // `npm run test:image` needs root, buildah and minutes.
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.STOREGATE_TEST_IMAGE ? [] : ['<rootDir>/test/image/'])],
  transform: {},
  injectGlobals: false,
  globalSetup: '<rootDir>/test/runner/setup.ts',
  globalTeardown: '<rootDir>/test/runner/teardown.ts',
  // A fresh clone knows no durations: Jest would go by the size of files, and start all suites that wait at once.
  testSequencer: '<rootDir>/test/runner/order.js',
  filter: '<rootDir>/test/runner/filter.js',
  // Three for each processor, because suites wait: for servers to start and stop, for deadlines, for bans. Each takes up to 1 GB
  // with its browser, servers and gateways. A number, because Jest takes '150%' as 150.
  maxWorkers: Math.max(1, Math.min(3 * availableParallelism(), 8, Math.floor(totalmem() / 1e9))),
  // Modules stay in their worker, so its heap grows with the suites; a new worker costs a second. In bytes of the heap.
  workerIdleMemoryLimit: '500MB',
  // All workers end at once, and freeing up to 500 MB each takes longer than the 500 ms that Jest waits before it reports a leak.
  workerGracefulExitTimeout: 30_000,
  // Only a guard against hanging: real servers on a busy machine take their time. A test that is over it fails with its name. There is
  // no forceExit: a worker that does not end is ended and reported, and fails nothing.
  testTimeout: 120_000,
};

/** Tests are TypeScript modules; swc only strips the types, as Node itself does when the product runs. */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } }],
  },
  injectGlobals: false,
  globalSetup: '<rootDir>/test/support/run-folder.ts',
  maxWorkers: '100%',
  // Only a guard against hanging: real servers on a busy machine take their time.
  testTimeout: 120_000,
};

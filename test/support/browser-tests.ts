import { describe, jest } from '@jest/globals';
import { whyNoBrowser } from './browser.ts';

jest.setTimeout(120_000); // A browser needs this on a busy machine.

const reason = whyNoBrowser();
if (reason !== null) {
  if (process.env.CI === 'true') throw new Error(reason);
  process.stderr.write(`The browser tests are left out: ${reason}\n`);
}

/** Like `describe` if there is a browser. Otherwise it says in one line why there is none, and fails in CI. */
export const describeInBrowser = reason === null ? describe : describe.skip;

import { describe, jest } from '@jest/globals';
import { whyNoBrowser } from './browser.ts';

jest.setTimeout(30_000); // A browser on a busy machine.

const reason = whyNoBrowser();
if (reason !== null) {
  if (process.env.CI === 'true') throw new Error(reason);
  process.stderr.write(`The browser tests are left out: ${reason}\n`);
}

/** As `describe`, where there is a browser. Says in one line why there is none; in CI there must be one. */
export const describeInBrowser = reason === null ? describe : describe.skip;

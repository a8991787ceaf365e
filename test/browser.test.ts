import { afterAll, beforeAll, describe } from '@jest/globals';
import { accessTests } from './console/browser/access.ts';
import { auditAndConfigurationTests } from './console/browser/audit-and-configuration.ts';
import { backendsTests } from './console/browser/backends.ts';
import { bansTests } from './console/browser/bans.ts';
import { whoTests } from './console/browser/clients.ts';
import { ConsoleFixture } from './console/browser/fixture.ts';
import { keysTests } from './console/browser/keys.ts';
import { nowTests } from './console/browser/overview.ts';
import { phoneTests } from './console/browser/phone.ts';
import { plansTests } from './console/browser/plans.ts';
import { referenceTests } from './console/browser/reference.ts';
import { apisTests, requestsTests } from './console/browser/requests.ts';
import { sessionTests } from './console/browser/session.ts';
import { topTests, usageTests } from './console/browser/top.ts';
import { accessTests as referenceAccessTests } from './reference/browser/access.ts';
import { ReferenceFixture } from './reference/browser/fixture.ts';
import { jsonSchemaTests } from './reference/browser/json-schema.ts';
import { keyboardTests } from './reference/browser/keyboard.ts';
import { largeTests } from './reference/browser/large.ts';
import { namesTests } from './reference/browser/names.ts';
import { ownApiTests } from './reference/browser/own-api.ts';
import { readingTests } from './reference/browser/reading.ts';
import { serversTests } from './reference/browser/servers.ts';
import { tokensTests } from './reference/browser/tokens.ts';
import { tryingTests } from './reference/browser/trying.ts';
import { uploadingTests } from './reference/browser/uploading.ts';
import { TestBrowser } from './support/browser.ts';

// One suite for both pages, because a browser and a gateway are expensive. The order of the tests
// matters.
let browser: TestBrowser;
const console = new ConsoleFixture();
const reference = new ReferenceFixture();
beforeAll(async () => {
  browser = await TestBrowser.start();
  await console.start(browser);
  await reference.start(browser, console.gateway);
});
afterAll(async () => {
  await browser?.stop();
  await reference.stop();
  await console.stop();
});

describe('the console in a browser', () => {
  topTests(console);
  usageTests(console);
  accessTests(console);
  referenceTests(console);
  requestsTests(console);
  bansTests(console);
  whoTests(console);
  plansTests(console);
  keysTests(console);
  auditAndConfigurationTests(console);
  phoneTests(console);
  sessionTests(console);
  nowTests(console);
  backendsTests(console);
  apisTests(console);
});

describe('the reference in a browser', () => {
  readingTests(reference);
  tryingTests(reference);
  keyboardTests(reference);
  referenceAccessTests(reference);
  jsonSchemaTests(reference);
  serversTests(reference);
  namesTests(reference);
  largeTests(reference);
  tokensTests(reference);
  uploadingTests(reference);
  ownApiTests(reference);
});

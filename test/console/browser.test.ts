import { afterAll, beforeAll, describe } from '@jest/globals';
import { accessTests } from './browser/access.ts';
import { auditAndConfigurationTests } from './browser/audit-and-configuration.ts';
import { backendsTests } from './browser/backends.ts';
import { bansTests } from './browser/bans.ts';
import { whoTests } from './browser/clients.ts';
import { ConsoleFixture } from './browser/fixture.ts';
import { keysTests } from './browser/keys.ts';
import { nowTests } from './browser/overview.ts';
import { phoneTests } from './browser/phone.ts';
import { plansTests } from './browser/plans.ts';
import { referenceTests } from './browser/reference.ts';
import { requestsTests } from './browser/requests.ts';
import { sessionTests } from './browser/session.ts';
import { topTests, usageTests } from './browser/top.ts';

// One suite, because a browser and a gateway are expensive. The order of the tests matters.
describe('the console in a browser', () => {
  const fixture = new ConsoleFixture();
  beforeAll(() => fixture.start());
  afterAll(() => fixture.stop());

  topTests(fixture);
  usageTests(fixture);
  accessTests(fixture);
  referenceTests(fixture);
  requestsTests(fixture);
  bansTests(fixture);
  whoTests(fixture);
  plansTests(fixture);
  keysTests(fixture);
  auditAndConfigurationTests(fixture);
  phoneTests(fixture);
  sessionTests(fixture);
  nowTests(fixture);
  backendsTests(fixture);
});

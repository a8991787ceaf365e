import { afterAll, beforeAll, describe } from '@jest/globals';
import { accessTests } from './browser/access.ts';
import { auditAndConfigurationTests } from './browser/audit-and-configuration.ts';
import { backendsTests } from './browser/backends.ts';
import { bansTests } from './browser/bans.ts';
import { whoTests } from './browser/clients.ts';
import { keysTests } from './browser/keys.ts';
import { nowTests } from './browser/overview.ts';
import { phoneTests } from './browser/phone.ts';
import { plansTests } from './browser/plans.ts';
import { referenceTests } from './browser/reference.ts';
import { requestsTests } from './browser/requests.ts';
import { sessionTests } from './browser/session.ts';
import { ConsoleStand } from './browser/stand.ts';
import { topTests, usageTests } from './browser/top.ts';

// One suite, because a browser and a gateway are expensive. The order of the tests matters.
describe('the console in a browser', () => {
  const stand = new ConsoleStand();
  beforeAll(() => stand.start());
  afterAll(() => stand.stop());

  topTests(stand);
  usageTests(stand);
  accessTests(stand);
  referenceTests(stand);
  requestsTests(stand);
  bansTests(stand);
  whoTests(stand);
  plansTests(stand);
  keysTests(stand);
  auditAndConfigurationTests(stand);
  phoneTests(stand);
  sessionTests(stand);
  nowTests(stand);
  backendsTests(stand);
});

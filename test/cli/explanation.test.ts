import { expect, test } from '@jest/globals';
import type { ExplainedRequest } from '@storegate/console';
import { inSteps } from '../../src/cli/explanation.ts';

const TOLD: ExplainedRequest = {
  id: 'a',
  gateway: 'one',
  worker: null,
  at: '2026-01-01T00:00:00.000Z',
  method: 'GET',
  operation: 'listPets',
  path: '/pets',
  status: 200,
  complete: true,
  ...{ step: null, code: null, message: null, reason: null },
  key: { id: 'key_1', account: 'acme', plan: 'free', subject: null },
  address: '127.0.0.1',
  ...{ traceparent: null, decision: null, windows: [], faults: [] },
  body: { declared: null, received: 0 },
  ...{ store: null, outage: null },
  times: { authenticated: null, admitted: null, forwarded: null, answered: null, total: 1 },
  repeated: 0,
};

test.each(['usage', 'reference', 'constructor', 'toString', '__proto__'])(
  'an operation of the contract that is called %s is told step by step as any other',
  (operation) => {
    const text = inSteps({ ...TOLD, operation }, false);
    expect(text).toMatch(/\nadmit .*\ncontract .*\nstore /);
    expect(text).not.toContain('answered by the gateway');
  },
);

test.each([
  [{ attempts: 1, head: 2 }, 'returned 200'],
  [{ attempts: 1, target: { upstream: 'default', store: 's1:80' }, head: 2 }, 's1:80 of default returned 200'],
  [
    { attempts: 3, target: { upstream: 'orders', store: 'o1:80' }, head: 2 },
    '3 attempts; o1:80 of orders returned 200',
  ],
])('it tells which store answered: %j', (store, words) => {
  const times = { ...TOLD.times, forwarded: 1, answered: 3 };
  expect(inSteps({ ...TOLD, store, times }, false)).toContain(`\nstore         ${words} (2.000 ms)\n`);
});

test('it tells which store failed, and that none was asked', () => {
  const failed = {
    ...TOLD,
    status: 504,
    step: 'store' as const,
    code: 'upstream_timeout',
    outage: 'upstream_timeout: too_slow',
  };
  const store = { attempts: 2, target: { upstream: 'default', store: 's1:80' }, head: null };
  expect(inSteps({ ...failed, store }, false)).toContain(
    '\nstore         FAILED: 2 attempts; s1:80 of default: upstream_timeout, upstream_timeout: too_slow\n',
  );
  const away = { ...TOLD, status: 503, step: 'store' as const, code: 'upstream_down', outage: 'upstream_down' };
  expect(inSteps({ ...away, store: { attempts: 0, target: null, head: null } }, false)).toContain(
    '\nstore         FAILED: not called: upstream_down\n',
  );
});

test('the usage of the gateway itself ends before limits', () => {
  const text = inSteps({ ...TOLD, operation: 'usage', path: null }, false);
  expect(text).toMatch(/\nusage +answered by the gateway/);
  expect(text).not.toContain('\nstore');
});

test('names in faults cannot control the terminal', () => {
  const faults = [{ in: 'body' as const, pointer: '/\u001b[2J', rule: 'type' }];
  const text = inSteps({ ...TOLD, faults: [{ side: 'request', reportOnly: false, count: 1, faults }] }, false);
  expect(text).toContain('body /?[2J: type');
});

test('who can never fit into a window is not told when to try again', () => {
  const decision = {
    verdict: 'limited',
    by: 'state',
    cost: 100,
    violated: 'minute',
    ...{
      retryAt: null,
      retryAfter: null,
      strikes: 0,
      strikesToBan: 10,
      bannedUntil: null,
      banStarted: false,
      level: null,
    },
  } as const;
  const text = inSteps({ ...TOLD, status: 429, step: 'admit', code: 'rate_limit_exceeded', decision }, false);
  expect(text).toMatch(/\nadmit +REFUSED: limited; minute has less than 100 units left; 0 of 10 strikes\n/);
});

test('an id that was left out in a flood is named before the request that was kept for it', () => {
  const id = '0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e';
  expect(inSteps(TOLD, false, id)).toMatch(new RegExp(`^${id} was not kept\\. Below is .*\n\nid +`));
  expect(inSteps(TOLD, false, TOLD.id.toUpperCase())).toMatch(/^id +/);
});

import { expect, test } from '@jest/globals';
import type { ExplainedRequest } from '@storegate/admin-api';
import { explainedView } from '../../src/cli/commands/explain.ts';
import { Page } from '../../src/cli/output.ts';

const inSteps = (request: ExplainedRequest, requested = request.id) =>
  explainedView({ requested, ...request }, new Page({ isTerminal: false, env: {} }, {}));

const EXPLAINED: ExplainedRequest = {
  id: 'a',
  gateway: 'one',
  worker: null,
  at: '2026-01-01T00:00:00.000Z',
  method: 'GET',
  operation: 'listPets',
  path: '/pets',
  sentPath: '/pets',
  status: 200,
  complete: true,
  step: null,
  code: null,
  message: null,
  reason: null,
  key: { id: 'key_1', account: 'acme', plan: 'free', subject: null },
  address: '127.0.0.1',
  traceparent: null,
  decision: null,
  windows: [],
  faults: [],
  body: { declared: null, received: 0 },
  backend: null,
  outage: null,
  times: { authenticated: null, admitted: null, forwarded: null, answered: null, total: 1 },
  repeated: 0,
};

test.each(['usage', 'reference', 'constructor', 'toString', '__proto__'])(
  'shows an operation called %s like any other',
  (operation) => {
    const text = inSteps({ ...EXPLAINED, operation });
    expect(text).toMatch(/\nadmit .*\ncontract .*\nbackend /);
    expect(text).not.toContain('served by the gateway');
  },
);

test.each([
  [{}, 'GET /pets (listPets)'],
  [{ path: '/pets/{petId}', sentPath: '/pets/17', operation: 'getPet' }, 'GET /pets/17 (getPet)'],
  [{ path: null, sentPath: '/petz', operation: 'none' }, 'GET /petz (no operation)'],
  [{ sentPath: null }, 'GET /pets (listPets)'],
  [{ path: null, sentPath: null, operation: 'none' }, 'GET (no operation)'],
])('shows the path as it was sent: %j', (changes, words) => {
  expect(inSteps({ ...EXPLAINED, ...changes })).toContain(`\nrequest   ${words}\n`);
});

test('shows in how much time each window was reset', () => {
  const resetAt = '2026-01-01T00:00:17.000Z';
  const minute = { name: 'minute', kind: 'fixed', limit: 60, before: 1, after: 0 } as const;
  const windows = [{ ...minute, resetAt, excess: null, over: 0 }];
  expect(inSteps({ ...EXPLAINED, windows })).toContain(' in 17s (2026-01-01T00:00:17Z)\n');
});

test.each([
  [{ attempts: 1, head: 2 }, 'returned 200'],
  [
    { attempts: 1, target: { upstream: 'default', backend: 's1:80' }, head: 2 },
    's1:80 of default returned 200',
  ],
  [
    { attempts: 3, target: { upstream: 'orders', backend: 'o1:80' }, head: 2 },
    '3 attempts; o1:80 of orders returned 200',
  ],
])('names the backend that responded: %j', (backend, words) => {
  const times = { ...EXPLAINED.times, forwarded: 1, answered: 3 };
  expect(inSteps({ ...EXPLAINED, backend, times })).toContain(
    `\nbackend       ${words} (2.000 ms)\n`,
  );
});

test('names the backend that failed, or that none was called', () => {
  const failed = {
    ...EXPLAINED,
    status: 504,
    step: 'backend' as const,
    code: 'upstream_timeout',
    outage: 'upstream_timeout: too_slow',
  };
  const backend = { attempts: 2, target: { upstream: 'default', backend: 's1:80' }, head: null };
  expect(inSteps({ ...failed, backend })).toContain(
    '\nbackend       FAILED: 2 attempts; s1:80 of default: upstream_timeout, upstream_timeout: too_slow\n',
  );
  const unavailable = {
    ...EXPLAINED,
    status: 503,
    step: 'backend' as const,
    code: 'upstream_down',
    outage: 'upstream_down',
  };
  expect(inSteps({ ...unavailable, backend: { attempts: 0, target: null, head: null } })).toContain(
    '\nbackend       FAILED: not called: upstream_down\n',
  );
});

test('shows a usage request without limits', () => {
  const text = inSteps({ ...EXPLAINED, operation: 'usage', path: null });
  expect(text).toMatch(/\nusage +served by the gateway/);
  expect(text).not.toContain('\nbackend');
});

test('escapes names in violations', () => {
  const faults = [{ in: 'body' as const, pointer: '/\u001b[2J', rule: 'type' }];
  const text = inSteps({
    ...EXPLAINED,
    faults: [{ side: 'request', reportOnly: false, count: 1, faults }],
  });
  expect(text).toContain('body /?[2J: type');
});

test('shows no retry time for a cost above the limit', () => {
  const decision = {
    verdict: 'limited',
    by: 'state',
    cost: 100,
    violated: 'minute',
    retryAt: null,
    retryAfter: null,
    strikes: 0,
    strikesToBan: 10,
    bannedUntil: null,
    banStarted: false,
    level: null,
  } as const;
  const text = inSteps({
    ...EXPLAINED,
    status: 429,
    step: 'admit',
    code: 'rate_limit_exceeded',
    decision,
  });
  expect(text).toMatch(
    /\nadmit +REFUSED: limited; minute has less than 100 units left; 0 of 10 strikes\n/,
  );
});

test('names the requested id before the identical request', () => {
  const id = '0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e';
  expect(inSteps(EXPLAINED, id)).toMatch(new RegExp(`^${id} was not kept\\. Below is .*\n\nid +`));
  expect(inSteps(EXPLAINED, EXPLAINED.id.toUpperCase())).toMatch(/^id +/);
});

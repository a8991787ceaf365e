import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Admission } from '../../../src/limits/admission.ts';
import type { Window } from '../../../src/limits/limits.ts';
import type { RequestEvent } from '../../../src/observe/events.ts';
import type { RequestFilter } from '../../../src/observe/peers/requests.ts';
import { createRecentRequests } from '../../../src/observe/request-log/recent.ts';
import { makeSecret } from '../../../src/records/keys/secret.ts';
import { DAY, MINUTE, window } from '../../support/limits.ts';
import { ANY, requestEvent } from '../../support/request-event.ts';
import { traceOf } from '../trace.ts';

const NOW = Date.UTC(2026, 0, 1);
const idOf = (i: number) => `00000000-0000-4000-8000-${i.toString(16).padStart(12, '0')}`;

function admitted(windows: readonly Window[]): Admission {
  const readings = windows.map((one, i) => ({
    window: one,
    used: i,
    resetAt: NOW + i * 1_000,
  }));
  return {
    verdict: 'admitted',
    now: NOW,
    readings,
    retryAt: 0,
    violated: null,
    strikes: 1,
    freeRefusals: 0,
    bannedUntil: 0,
    banBegins: false,
  };
}

function eventOf(i: number, given: Partial<RequestEvent> = {}): RequestEvent {
  const noClient = { verdict: null, keyId: null, account: null, plan: null, upstream: null };
  return requestEvent({
    ...noClient,
    id: idOf(i),
    address: '192.0.2.1',
    duration: 1,
    trace: traceOf(),
    ...given,
  });
}

const refused = (i: number, code: string, keyId = `key_${i}`) =>
  eventOf(i, { status: 429, code, keyId });

function keeping(requests: number, sample = 1) {
  let now = NOW;
  const recent = createRecentRequests(
    { bufferSize: requests, sampleRate: sample },
    { worker: null, clock: () => now },
  );
  return {
    recent,
    pass(milliseconds: number) {
      now += milliseconds;
    },
    has: (i: number) => recent.explain(idOf(i)).request !== null,
    kept: () => recent.refusals(ANY).map(({ id }) => Number.parseInt(id.slice(24), 16)),
  };
}

test.each([
  ['notes', ['notes']],
  ['default', [null]],
  [null, ['notes', null]],
])('refusals of the API %s', (api, names) => {
  const { recent } = keeping(10);
  for (const [i, name] of [null, 'notes'].entries())
    recent.observe(eventOf(i, { status: 404, code: 'not_found', api: name }));
  const found = recent.refusals({ ...ANY, api });
  expect(found.map(({ id }) => (id === idOf(1) ? 'notes' : null))).toEqual(names);
});

test.each([{}, { status: 404, code: 'not_found' }])(
  'the path is kept as it was sent, without its query and with keys masked: %j',
  (given) => {
    const { recent } = keeping(4);
    const secret = makeSecret('live');
    const sentPath = (target: string) => {
      recent.observe(eventOf(1, { ...given, trace: traceOf({ target }) }));
      recent.use({ bufferSize: 4, sampleRate: 1 });
      const { request } = recent.explain(idOf(1));
      recent.use({ bufferSize: 0, sampleRate: 1 });
      recent.use({ bufferSize: 4, sampleRate: 1 });
      return request!.sentPath;
    };
    expect(sentPath('/pets/17?name=x')).toBe('/pets/17');
    expect(sentPath(`/keys/${secret}/x`)).toBe('/keys/sg_…/x');
    expect(sentPath(`/${'x'.repeat(600)}`)).toHaveLength(500);
  },
);

describe('successful requests', () => {
  test('are shown as they were, like failures', () => {
    const admission = admitted([window(60, MINUTE), window(1_000, DAY)]);
    const times = { authenticated: 0.1, admitted: 0.2, forwarded: 0.3 };
    const trace = traceOf({ ...times, admission, usage: admission, declared: 7, received: 7 });
    const event = eventOf(1, { verdict: 'admitted', upstream: 2, trace });
    const { recent } = keeping(4);
    recent.observe(event);
    recent.observe({ ...event, id: idOf(2), code: 'upstream_error' });
    const { id, ...success } = recent.explain(idOf(1)).request!;
    expect(recent.explain(idOf(2)).request).toEqual({
      ...success,
      id: idOf(2),
      code: 'upstream_error',
    });
    expect(success).toMatchObject({ decision: { verdict: 'admitted' }, body: { declared: 7 } });
    expect(success.windows).toHaveLength(2);
  });

  test('of a second are at most 500, and the buffer knows their share', () => {
    const { recent, has, pass } = keeping(4_000);
    for (let i = 0; i < 1_000; i++) recent.observe(eventOf(i));
    expect(Array.from({ length: 1_000 }, (_, i) => i).filter(has)).toHaveLength(500);
    expect(recent.explain('').memory).toMatchObject({ sample: 0.5 });
    pass(1_000);
    for (let i = 1_000; i < 1_400; i++) recent.observe(eventOf(i));
    expect([has(499), has(500), has(1_000), has(1_399)]).toEqual([true, false, true, true]);
    recent.use({ bufferSize: 800, sampleRate: 1 });
    expect([has(499), has(1_000)]).toEqual([false, true]);
    expect(recent.explain('').memory).toMatchObject({ sample: 1 });
  });

  test('are the last ones, up to the size of the buffer, also through changes of that size', () => {
    const step = fc.oneof(
      { weight: 20, arbitrary: fc.constant('request' as const) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 20 }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const { recent, has } = keeping(10);
        let expected: number[] = [];
        let room = 5;
        for (const [i, one] of steps.entries()) {
          if (one === 'request') {
            recent.observe(eventOf(i));
            expected.push(i);
          } else {
            recent.use({ bufferSize: one, sampleRate: 1 });
            room = Math.floor(one / 2);
          }
          expected = room === 0 ? [] : expected.slice(-room);
        }
        const there = [...steps.keys()].filter(has);
        expect(there).toEqual(expected);
      }),
    );
  });

  test('are kept at the configured rate', () => {
    const { recent, has } = keeping(200, 0.25);
    for (let i = 0; i < 100; i++) recent.observe(eventOf(i));
    expect(Array.from({ length: 100 }, (_, i) => i).filter(has)).toHaveLength(25);
  });

  test('displace no refusal', () => {
    const { recent, kept } = keeping(10);
    recent.observe(refused(1, 'not_found'));
    for (let i = 2; i < 1_000; i++) recent.observe(eventOf(i));
    expect(kept()).toEqual([1]);
  });
});

describe('refusals and failures', () => {
  test('that are skipped in a flood refer to the kept one before them', () => {
    const { recent, pass } = keeping(100);
    for (let i = 0; i < 40; i++) recent.observe(refused(i, 'rate_limit_exceeded', 'key_flood'));
    recent.observe(refused(50, 'rate_limit_exceeded', 'key_other'));
    for (const i of [10, 25, 39])
      expect(recent.explain(idOf(i)).request).toMatchObject({
        id: idOf(9),
        key: { id: 'key_flood' },
      });
    expect(recent.explain(idOf(40)).request).toBeNull();
    expect(recent.explain('').request).toBeNull();
    pass(1_000);
    recent.observe(refused(60, 'rate_limit_exceeded', 'key_flood'));
    recent.observe(refused(61, 'rate_limit_exceeded', 'key_flood'));
    expect(recent.explain(idOf(61)).request).toMatchObject({ id: idOf(60), repeated: 30 });
  });

  test('that are skipped have bounded memory: the newest ids of each are known', () => {
    const { recent } = keeping(100);
    for (let i = 0; i < 1_000; i++) recent.observe(refused(i, 'key_banned', 'key_flood'));
    expect(recent.explain(idOf(999)).request).toMatchObject({ id: idOf(9) });
    expect(recent.explain(idOf(1_000 - 128)).request).toMatchObject({ id: idOf(9) });
    expect(recent.explain(idOf(999 - 128)).request).toBeNull();
  });

  test('never exceed the buffer, and if it is full a code with few of them loses none', () => {
    const codes = fc.array(
      fc.constantFrom('common', 'common', 'common', 'common', 'rare', 'rarest'),
      {
        maxLength: 300,
      },
    );
    fc.assert(
      fc.property(codes, (given) => {
        const { recent, kept, pass } = keeping(60);
        for (const [i, code] of given.entries()) {
          pass(1_000);
          recent.observe(refused(i, code));
          expect(kept().length).toBe(Math.min(i + 1, 30));
        }
        const mostly = recent.refusals(ANY).filter(({ code }) => code === 'common').length;
        for (const code of ['rare', 'rarest']) {
          const all = given.filter((one) => one === code).length;
          const there = recent.refusals({ ...ANY, code }).length;
          expect(there === all || there >= mostly - 1).toBe(true);
        }
      }),
    );
  });

  test('of one key and code are ten at once and then one a second, with the number of skipped ones', () => {
    const { recent, pass, kept } = keeping(1_000);
    for (let i = 0; i < 20_000; i++) recent.observe(refused(i, 'rate_limit_exceeded', 'key_flood'));
    recent.observe(refused(20_001, 'rate_limit_exceeded', 'key_calm'));
    recent.observe(refused(20_002, 'not_found', 'key_flood'));
    expect([...kept()].sort((a, b) => a - b)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20_001, 20_002,
    ]);
    pass(1_000);
    for (let i = 30_000; i < 50_000; i++)
      recent.observe(refused(i, 'rate_limit_exceeded', 'key_flood'));
    expect(recent.refusals({ ...ANY, key: 'key_flood', limit: 1 })).toMatchObject([
      { id: idOf(30_000), repeated: 19_990 },
    ]);
    pass(10_000);
    recent.observe(refused(60_000, 'rate_limit_exceeded', 'key_flood'));
    expect(recent.explain(idOf(60_000)).request?.repeated).toBe(19_999);
  });

  test('come in pages that have each once, and of a period', () => {
    const { recent, pass } = keeping(100);
    const at: number[] = [];
    for (let i = 0; i < 9; i++) {
      recent.observe(refused(i, `code_${i}`));
      at.push(recent.refusals({ ...ANY, limit: 1 })[0]!.at);
      if (i % 3 === 2) pass(1_000);
    }
    const pages: string[][] = [];
    for (let before: RequestFilter['before'] = null; ; ) {
      const page = recent.refusals({ ...ANY, before, limit: 2 });
      if (page.length === 0) break;
      pages.push(page.map(({ id }) => id));
      before = page.at(-1)!;
    }
    expect(pages.flat()).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0].map(idOf));
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 2, 2, 1]);
    const period = { since: at[3]!, before: { at: at[6]!, id: '' } };
    expect(recent.refusals({ ...ANY, ...period }).map(({ id }) => id)).toEqual([5, 4, 3].map(idOf));
  });

  test('of one millisecond are in the order of their ids, whatever their codes are', () => {
    const { recent } = keeping(100);
    for (const [i, code] of ['a', 'a', 'b', 'a'].entries())
      recent.observe(refused([2, 0, 3, 1][i]!, code));
    expect(recent.refusals(ANY).map(({ id }) => id)).toEqual([3, 2, 1, 0].map(idOf));
  });

  test('of one code are limited per second over all clients', () => {
    const { recent, pass, kept } = keeping(100_000);
    for (let i = 0; i < 5_000; i++) recent.observe(refused(i, 'invalid_api_key'));
    expect(kept()).toHaveLength(200);
    pass(1_000);
    for (let i = 5_000; i < 10_000; i++) recent.observe(refused(i, 'invalid_api_key'));
    expect(kept()).toHaveLength(400);
  });

  test('without a key are distinguished by address', () => {
    const { recent, kept } = keeping(1_000);
    for (let i = 0; i < 100; i++) {
      const address = i % 2 === 0 ? '192.0.2.1' : '192.0.2.2';
      recent.observe(eventOf(i, { status: 401, code: 'invalid_api_key', address }));
    }
    expect(kept()).toHaveLength(20);
  });

  test('have a time since which none was dropped', () => {
    const { recent, pass } = keeping(4);
    expect(recent.explain('').memory).toEqual({
      requests: 4,
      sample: 1,
      goodSince: NOW,
      othersSince: NOW,
    });
    for (let i = 0; i < 3; i++) {
      pass(DAY);
      recent.observe(refused(i, 'not_found'));
      recent.observe(eventOf(i + 10));
    }
    expect(recent.explain('').memory).toMatchObject({
      goodSince: NOW + 2 * DAY,
      othersSince: NOW + DAY,
    });
  });
});

test('other events of a request are shown with it, and dropped with size 0', () => {
  const { recent } = keeping(10);
  const backend = { upstream: 'default', backend: 'b:80' };
  const cause = Object.assign(new Error('connect ECONNREFUSED secret.example'), {
    code: 'ECONNREFUSED',
  });
  recent.observe({
    type: 'retry',
    id: idOf(1),
    upstream: 'default',
    backend: 'a:80',
    error: cause,
  });
  recent.observe({ type: 'outage', id: idOf(1), error: new Error('secret', { cause }) });
  recent.observe(
    eventOf(1, {
      status: 502,
      code: 'upstream_error',
      trace: traceOf({ forwarded: 1, backend: { ...backend, isSole: false } }),
    }),
  );
  const { request } = recent.explain(idOf(1));
  expect(request).toMatchObject({
    backend: { attempts: 2, target: backend, head: null },
    outage: 'the connection is refused',
  });
  expect(JSON.stringify(request)).not.toContain('secret');
  recent.use({ bufferSize: 0, sampleRate: 1 });
  recent.observe(eventOf(2));
  expect(recent.explain(idOf(1)).request).toBeNull();
  expect(recent.explain(idOf(2))).toMatchObject({ request: null, memory: { requests: 0 } });
});

test('bytes that are not a request are shown with the known fields', () => {
  const { recent } = keeping(10);
  const { trace, ...event } = eventOf(1, {
    status: 400,
    code: 'malformed_request',
    step: 'http',
    method: 'other',
  });
  recent.observe(event);
  expect(recent.explain(idOf(1)).request).toMatchObject({
    step: 'http',
    key: null,
    decision: null,
    windows: [],
  });
});

test('a buffer of one is for a refusal, and promises no successful request', () => {
  const { recent, has } = keeping(1);
  recent.observe(eventOf(1, { status: 200 }));
  recent.observe(refused(2, 'not_found'));
  expect([has(1), has(2)]).toEqual([false, true]);
  expect(recent.explain(idOf(1)).memory).toMatchObject({ requests: 1, sample: 0 });
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Admission, admit, remainingIn } from '../../src/limits/admission.ts';
import { newCounters } from '../../src/limits/counters.ts';
import type { Limits, Window } from '../../src/limits/limits.ts';
import { NO_SCOPES, type Scopes } from '../../src/limits/scopes.ts';
import type { RequestEvent, RequestTrace } from '../../src/observe/events.ts';
import type { WebhookEvent } from '../../src/webhooks/event.ts';
import { createQuotaDetector } from '../../src/webhooks/quota-detector.ts';
import { DAY, HOUR, limits, MINUTE, scoped, window, withExcess } from '../support/limits.ts';
import { requestEvent } from '../support/request-event.ts';

const T = Date.UTC(2026, 0, 1);

let found: WebhookEvent[];
let readQuota: ReturnType<typeof createQuotaDetector>;
beforeEach(() => {
  found = [];
  readQuota = createQuotaDetector(DAY, (event) => void found.push(event));
});

function eventOf(
  admission: Admission,
  cost: number,
  subject = 'key:key_1',
  scopes = NO_SCOPES,
): RequestEvent {
  const trace = { subject, admission, cost, scopes } as RequestTrace;
  return requestEvent({ verdict: admission.verdict, trace });
}

function reached(given: Limits, costs: readonly number[], at = T): (readonly number[])[] {
  const counters = newCounters(given.windows);
  return costs.map((cost, i) => {
    const before = found.length;
    readQuota(eventOf(admit(counters, given, cost, at + i), cost));
    return found.slice(before).map(({ data }) => data.percent as number);
  });
}

const ones = (count: number) => Array.from({ length: count }, () => 1);

describe('a quota', () => {
  test('of a client address is not reported', () => {
    const given = limits([window(10, DAY)]);
    const counters = newCounters(given.windows);
    for (let i = 0; i < 12; i++) {
      const event = eventOf(admit(counters, given, 1, T + i), 1, 'address:192.0.2.1');
      readQuota({ ...event, keyId: null, account: null, plan: 'public' });
    }
    expect(found).toEqual([]);
  });

  test('with overage is reported at 80, 100 and 120 %, with all units', () => {
    const given = limits([withExcess('overage', window(10, DAY))]);
    expect(reached(given, ones(13)).flat()).toEqual([80, 100, 120]);
    expect(found.map(({ data }) => data.used)).toEqual([8, 10, 12]);
  });

  test('of a window that only watches is not reported', () => {
    expect(reached(limits([withExcess('watch', window(10, DAY))]), ones(13)).flat()).toEqual([]);
  });

  test('is reported at 80 and at 100 %, once each', () => {
    expect(reached(limits([window(10, DAY)]), ones(13)).map((each) => each.join())).toEqual([
      ...ones(7).map(() => ''),
      '80',
      '',
      '100',
      '',
      '',
      '',
    ]);
    expect(found.map(({ data }) => data)).toMatchObject([
      {
        key: 'key_1',
        account: 'acme',
        plan: 'free',
        window: '86400s',
        scope: null,
        limit: 10,
        used: 8,
        percent: 80,
      },
      { used: 10, percent: 100, resets: new Date(T + DAY).toISOString() },
    ]);
  });

  test('is read from the state only, and then includes requests that were decided locally', () => {
    const given = limits([window(10, DAY)]);
    const counters = newCounters(given.windows);
    const share = newCounters(given.windows);
    const read = (admission: Admission, by?: 'local') => {
      const before = found.length;
      readQuota(eventOf(by ? { ...admission, by } : admission, 1));
      return found.slice(before).map(({ data }) => data.percent);
    };
    const ask = (units: number) => read(admit(counters, given, units, T));
    expect(ask(1)).toEqual([]);
    admit(share, given, 9, T);
    expect(read(admit(share, given, 1, T), 'local')).toEqual([]);
    expect(read(admit(share, given, 1, T), 'local')).toEqual([]);
    expect(ask(1)).toEqual([]);
    // Charged after the outage.
    admit(counters, given, 6, T);
    expect(ask(1)).toEqual([80]);
    expect(ask(1)).toEqual([100]);
    expect(found).toHaveLength(2);
  });

  test('covers each window that is long enough, and no shorter one', () => {
    expect(reached(limits([window(2, MINUTE), window(5, DAY)]), [1, 1])).toEqual([[], []]);
    readQuota = createQuotaDetector(HOUR, (one) => void found.push(one));
    expect(reached(limits([window(2, HOUR), window(5, DAY)]), [1, 1])).toEqual([[], [80, 100]]);
  });

  test('of one scope is reported by requests that count in it, and by no others', () => {
    const given = limits([window(1000, DAY), scoped('searchPets', 5, DAY)]);
    const counters = newCounters(given.windows);
    const ask = (scopes: Scopes) => {
      const admission = admit(counters, given, 1, T, scopes);
      readQuota(eventOf(admission, 1, 'key:key_1', scopes));
    };
    for (let i = 0; i < 5; i++) {
      ask(['searchPets']);
      const before = found.length;
      readQuota = createQuotaDetector(DAY, (one) => void found.push(one));
      for (let j = 0; j < 3; j++) ask(NO_SCOPES);
      expect(found).toHaveLength(before);
    }
    expect(found.map(({ data }) => data.percent)).toEqual([80, 100]);
  });

  test('with a changed limit is another one', () => {
    const [before, after] = [limits([window(10, DAY)]), limits([window(100, DAY)])];
    const counters = newCounters(before.windows);
    const use = (given: Limits, cost: number) =>
      readQuota(eventOf(admit(counters, given, cost, T), cost));
    use(before, 8);
    use(after, 70);
    use(after, 5);
    use(limits([window(50, DAY)]), 1);
    expect(found.map(({ data }) => [data.limit, data.percent])).toEqual([
      [10, 80],
      [100, 80],
      [50, 100],
    ]);
    expect(new Set(found.map(({ once }) => once.name)).size).toBe(3);
  });

  test('that slides is reported once by each process in its span, however often a client reaches it', () => {
    const given = limits([window(10, DAY, 'sliding')]);
    const counters = newCounters(given.windows);
    const use = (at: number) => readQuota(eventOf(admit(counters, given, 1, at), 1));
    for (let i = 0; i < 10; i++) use(T + i);
    found = [];
    const admitted = [];
    for (let i = 1; i < 24; i++) {
      const admission = admit(counters, given, 1, T + DAY + (i * DAY) / 24);
      readQuota(eventOf(admission, 1));
      admitted.push(admission.verdict);
    }
    expect(admitted.filter((verdict) => verdict === 'admitted').length).toBeGreaterThan(5);
    expect(found.map(({ data }) => data.percent)).toEqual([100, 80]);
  });

  test('of an account is reported for the account', () => {
    const given = limits([window(1, DAY)]);
    readQuota(eventOf(admit(newCounters(given.windows), given, 1, T), 1, 'account:team:acme'));
    expect(found[0]!.data).toMatchObject({ key: null, account: 'acme' });
  });

  test('has another name in the next window, and the same at all processes', () => {
    const given = limits([window(1, DAY)]);
    for (const at of [T, T, T + DAY]) {
      readQuota = createQuotaDetector(DAY, (one) => void found.push(one));
      reached(given, [1], at);
    }
    const names = found.map(({ once }) => once.name);
    expect(new Set(names).size).toBe(4);
    expect(names.slice(0, 2)).toEqual(names.slice(2, 4));
    for (const { once, at } of found) expect(once.until).toBeGreaterThanOrEqual(at + DAY);
  });

  test('is reported by one of all requests that reach it, whatever their cost and whatever was granted', () => {
    const kinds = fc.constantFrom<Window['kind']>('fixed', 'sliding');
    fc.assert(
      fc.property(
        kinds,
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 80 }),
        (kind, limit, costs) => {
          found = [];
          readQuota = createQuotaDetector(DAY, (one) => void found.push(one));
          const given = limits([window(limit, DAY, kind)]);
          const counters = newCounters(given.windows);
          let used = 0;
          for (const [i, cost] of costs.entries()) {
            const admission = admit(counters, given, cost, T + i);
            readQuota(eventOf(admission, cost));
            used = limit - remainingIn(admission.readings[0]!);
          }
          const names = found.map(({ once }) => once.name);
          const at = (percent: number) => names.filter((name) => name.endsWith(` ${percent}`));
          expect(at(80)).toHaveLength(used * 100 >= limit * 80 ? 1 : 0);
          if (used === limit) expect(new Set(at(100)).size).toBe(1);
        },
      ),
    );
  });
});

test('is not reported for a request without an admission', () => {
  readQuota(requestEvent());
  readQuota(requestEvent({ trace: { subject: null, admission: null, cost: 1 } as RequestTrace }));
  expect(found).toEqual([]);
});

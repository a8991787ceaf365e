import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Admission, admit } from '../../src/limits/admission.ts';
import { newLedger } from '../../src/limits/ledger.ts';
import type { Limits, Window } from '../../src/limits/limits.ts';
import type { RequestEvent, RequestTrace } from '../../src/observe/events.ts';
import { Quotas } from '../../src/webhooks/quotas.ts';
import type { Told } from '../../src/webhooks/told.ts';
import { DAY, HOUR, limits, MINUTE, window } from '../support/limits.ts';
import { requestEvent } from '../support/request-event.ts';

const T = Date.UTC(2026, 0, 1);

let found: Told[];
let quotas: Quotas;
beforeEach(() => {
  found = [];
  quotas = new Quotas(DAY, (told) => void found.push(told));
});

/** The event of a request that admission decided. */
function eventOf(admission: Admission, cost: number, subject = 'key:key_1'): RequestEvent {
  const trace = { subject, admission, cost } as RequestTrace;
  return requestEvent({ verdict: admission.verdict, trace });
}

/** Requests of these costs, one after the other; what was told of each. */
function told(given: Limits, costs: readonly number[], at = T): (readonly number[])[] {
  const ledger = newLedger(given.windows);
  return costs.map((cost, i) => {
    const before = found.length;
    quotas.read(eventOf(admit(ledger, given, cost, at + i), cost));
    return found.slice(before).map(({ data }) => data.percent as number);
  });
}

const ones = (count: number) => Array.from({ length: count }, () => 1);

describe('a quota', () => {
  test('is told at 80 and at 100 %, once each', () => {
    expect(told(limits([window(10, DAY)]), ones(13)).map((each) => each.join())).toEqual([
      ...ones(7).map(() => ''),
      '80',
      '',
      '100',
      '',
      '',
      '',
    ]);
    expect(found.map(({ data }) => data)).toMatchObject([
      { key: 'key_1', account: 'acme', plan: 'free', window: '86400s', scope: null, limit: 10, used: 8, percent: 80 },
      { used: 10, percent: 100, resets: new Date(T + DAY).toISOString() },
    ]);
  });

  test('of few units is told at the unit with which it is reached', () => {
    expect(told(limits([window(1, DAY)]), [1])).toEqual([[80, 100]]);
    expect(told(limits([window(3, DAY)]), [1, 1, 1])).toEqual([[], [], [80, 100]]);
  });

  test('is told once where a request asks for more than is left', () => {
    expect(told(limits([window(10, DAY)]), [6, 6, 6, 2, 3])).toEqual([[], [100], [], [80], []]);
  });

  test('is each window that is long enough, and none that is shorter', () => {
    expect(told(limits([window(2, MINUTE), window(5, DAY)]), [1, 1])).toEqual([[], []]);
    quotas = new Quotas(HOUR, (one) => void found.push(one));
    expect(told(limits([window(2, HOUR), window(5, DAY)]), [1, 1])).toEqual([[], [80, 100]]);
  });

  test('of an account is told by the account', () => {
    const given = limits([window(1, DAY)]);
    quotas.read(eventOf(admit(newLedger(given.windows), given, 1, T), 1, 'account:team:acme'));
    expect(found[0]!.data).toMatchObject({ key: null, account: 'acme' });
  });

  test('has another name in the next window, and the same for all who find it', () => {
    const given = limits([window(1, DAY)]);
    for (const at of [T, T, T + DAY]) told(given, [1], at);
    const names = found.map(({ once }) => once.name);
    expect(new Set(names).size).toBe(4);
    expect(names.slice(0, 2)).toEqual(names.slice(2, 4));
    for (const { once, at } of found) expect(once.until).toBeGreaterThanOrEqual(at + DAY);
  });

  test('is told by one of all requests that reach it, whatever they cost and whatever was given back', () => {
    const kinds = fc.constantFrom<Window['kind']>('fixed', 'sliding');
    fc.assert(
      fc.property(
        kinds,
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 80 }),
        (kind, limit, costs) => {
          found = [];
          quotas = new Quotas(DAY, (one) => void found.push(one));
          const given = limits([window(limit, DAY, kind)]);
          const ledger = newLedger(given.windows);
          let used = 0;
          for (const [i, cost] of costs.entries()) {
            const admission = admit(ledger, given, cost, T + i);
            quotas.read(eventOf(admission, cost));
            used = limit - admission.readings[0]!.remaining;
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

test('a request that admission did not decide tells nothing', () => {
  quotas.read(requestEvent());
  quotas.read(requestEvent({ trace: { subject: null, admission: null, cost: 1 } as RequestTrace }));
  expect(found).toEqual([]);
});

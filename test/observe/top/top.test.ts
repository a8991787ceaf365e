import { describe, expect, test } from '@jest/globals';
import type { RequestEvent } from '../../../src/observe/events.ts';
import { COUNTERS, Top, type TopBy, type TopWindow } from '../../../src/observe/top/top.ts';
import { DAY, HOUR, MINUTE, SECOND, TestClock } from '../../support/limits.ts';
import { requestEvent } from '../../support/request-event.ts';

const NOON = Date.UTC(2026, 0, 1, 12);

function counting() {
  const clock = new TestClock(NOON);
  const top = new Top(clock.read);
  return {
    clock,
    top,
    send: (given: Partial<RequestEvent> = {}) => top.observe(requestEvent(given)),
    total: (window: TopWindow, by: TopBy = 'requests') => top.counts(window, by).summary.total,
    keys: (by: TopBy) =>
      top.counts('minute', by).summary.items.map(({ key, count }) => [key, count]),
  };
}

const REFUSED = { status: 429, code: 'rate_limit_exceeded', verdict: 'limited' };

describe('what is counted', () => {
  test.each<[string, Partial<RequestEvent>, TopBy[]]>([
    ['an answered request', {}, ['requests']],
    ['one with a limit near', { nearLimit: true }, ['requests', 'near']],
    ['one that limits refuse', REFUSED, ['requests', 'refused', 'operations']],
    [
      'one of a key with strikes',
      { ...REFUSED, unheeding: true },
      ['requests', 'refused', 'strikes', 'operations'],
    ],
    [
      'one that the contract refuses',
      { status: 400, code: 'invalid_request' },
      ['requests', 'refused', 'operations'],
    ],
    ['one without a key', { ...REFUSED, keyId: null, account: null, plan: null }, ['operations']],
    ['one to a deprecated operation', { deprecated: true }, ['requests', 'deprecated']],
    ['what the backend says', { status: 404 }, ['requests']],
    ['an outage', { status: 502, code: 'upstream_unavailable' }, ['requests']],
    ['a caller that left', { status: 499, code: 'client_closed_request' }, ['requests']],
  ])('of %s', (_name, event, counted) => {
    const { send, total } = counting();
    send(event);
    expect((Object.keys(COUNTERS) as TopBy[]).filter((by) => total('minute', by) > 0)).toEqual(
      counted,
    );
  });

  test('has account, plan, and the time of the last one', () => {
    const { send, clock, top } = counting();
    send();
    clock.pass(3 * SECOND);
    send();
    expect(top.counts('minute', 'requests').summary.items).toEqual([
      {
        key: 'key_1',
        count: 2,
        error: 0,
        last: NOON + 3 * SECOND,
        about: { keyId: 'key_1', account: 'acme', plan: 'free', operation: null },
      },
    ]);
  });

  test('of deprecated operations is separate for each', () => {
    const { send, top, keys } = counting();
    for (const operation of ['oldPets', 'oldOrders', 'oldPets'])
      send({ deprecated: true, operation });
    expect(keys('deprecated')).toEqual([
      ['key_1 oldPets', 2],
      ['key_1 oldOrders', 1],
    ]);
    expect(top.counts('minute', 'deprecated').summary.items[0]!.about).toMatchObject({
      keyId: 'key_1',
      operation: 'oldPets',
    });
  });

  test('excludes other events', () => {
    const { top, total } = counting();
    top.observe({ type: 'stopping', inFlight: 1 });
    expect(total('day')).toBe(0);
  });
});

describe('the period', () => {
  test.each<[TopWindow, number, number]>([
    ['minute', MINUTE, 10 * SECOND],
    ['hour', HOUR, 10 * MINUTE],
    ['day', DAY, HOUR],
  ])('a %s, and the rest of its first slice', (window, length, span) => {
    const { send, clock, total } = counting();
    send();
    clock.pass(length);
    expect(total(window)).toBe(1);
    clock.pass(span - 1);
    expect(total(window)).toBe(1);
    clock.pass(1);
    expect(total(window)).toBe(0);
  });

  test('includes every request in each window once, however they are distributed', () => {
    const { send, clock, total } = counting();
    for (let i = 0; i < 2_500; i++) {
      send();
      clock.pass(43 * SECOND + 7);
    }
    const between = (length: number, span: number) =>
      [length / 43_007, (length + span) / 43_007] as const;
    for (const [window, [least, most]] of [
      ['minute', between(MINUTE, 10 * SECOND)],
      ['hour', between(HOUR, 10 * MINUTE)],
      ['day', between(DAY, HOUR)],
    ] as const) {
      expect(total(window)).toBeGreaterThanOrEqual(Math.floor(least));
      expect(total(window)).toBeLessThanOrEqual(Math.ceil(most));
    }
  });

  test('does not begin before the start', () => {
    const { top, clock } = counting();
    expect(top.counts('day', 'requests').since).toBe(NOON);
    clock.pass(2 * DAY);
    expect(top.counts('day', 'requests').since).toBe(NOON + DAY);
    clock.pass(30 * MINUTE);
    expect(top.counts('day', 'requests').since).toBe(NOON + DAY);
    expect(top.counts('minute', 'requests').since).toBe(NOON + 2 * DAY + 29 * MINUTE);
  });

  test('excludes the future after the clock was set back', () => {
    const { send, clock, total } = counting();
    clock.pass(5 * MINUTE);
    send();
    clock.pass(-5 * MINUTE);
    send();
    expect(total('minute')).toBe(1);
    clock.pass(5 * MINUTE);
    send();
    expect(total('minute')).toBe(2);
  });
});

test('holds a few hundred keys of any number, and finds the busiest', () => {
  const { send, clock, top } = counting();
  for (let i = 0; i < 60_000; i++) {
    send({ keyId: i % 50 === 0 ? 'busy' : `key_${i}`, nearLimit: true });
    if (i % 500 === 0) clock.pass(7 * MINUTE);
  }
  const { summary } = top.counts('day', 'near');
  expect(summary.items).toHaveLength(COUNTERS.near);
  expect(summary.floor).toBeLessThanOrEqual(summary.total / COUNTERS.near);
  expect(summary.items[0]!.key).toBe('busy');
});

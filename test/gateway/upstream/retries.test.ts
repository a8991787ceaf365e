import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Retries } from '../../../src/gateway/upstream/retries.ts';

const USUAL = { budget: 0.1, maxRetries: 2, on: ['connect', 'reset'], timeouts: false } as const;

describe('a retry is allowed', () => {
  test.each([
    ['without a connection, whatever it is', USUAL, 'unreachable', 'POST', 0, true],
    ['after a reset, if it may be repeated', USUAL, 'broken', 'GET', 0, true],
    ['after a reset, if PUT', USUAL, 'broken', 'PUT', 0, true],
    ['not after a reset, if POST', USUAL, 'broken', 'POST', 0, false],
    ['not after a reset, if PATCH', USUAL, 'broken', 'PATCH', 0, false],
    ['not after a timeout', USUAL, 'too_slow', 'GET', 0, false],
    ['after a timeout, if asked for', { ...USUAL, timeouts: true }, 'too_slow', 'GET', 0, true],
    ['never after a timeout, if POST', { ...USUAL, timeouts: true }, 'too_slow', 'POST', 0, false],
    ['not if its own body failed', USUAL, 'body', 'PUT', 0, false],
    ['a second time', USUAL, 'broken', 'GET', 1, true],
    ['not a third time', USUAL, 'broken', 'GET', 2, false],
    [
      'not without a connection, if it is not asked for',
      { ...USUAL, on: ['reset'] },
      'unreachable',
      'GET',
      0,
      false,
    ],
    [
      'not after a reset, if it is not asked for',
      { ...USUAL, on: ['connect'] },
      'broken',
      'GET',
      0,
      false,
    ],
  ] as const)('%s', (_what, settings, failure, method, times, allowed) => {
    expect(new Retries(settings).allows({ failure }, method, times)).toBe(allowed);
  });
});

describe('the budget', () => {
  test('admits no more than its share besides ten a second, in any ten seconds', () => {
    const events = fc.array(
      fc.record({ after: fc.integer({ min: 0, max: 700 }), retry: fc.boolean() }),
      {
        maxLength: 400,
      },
    );
    fc.assert(
      fc.property(events, fc.double({ min: 0.01, max: 1, noNaN: true }), (events, budget) => {
        const retries = new Retries({ ...USUAL, budget });
        const done: { at: number; retry: boolean }[] = [];
        let now = 5_000;
        for (const { after, retry } of events) {
          now += after;
          if (!retry) retries.count(now);
          if (!retry || retries.take(now)) done.push({ at: now, retry });
          const second = Math.floor(now / 1_000);
          const last = done.filter(({ at }) => Math.floor(at / 1_000) > second - 10);
          const sent = last.filter(({ retry }) => retry).length;
          const most = Math.max(budget * (last.length - sent), 0) + 10 * 10;
          expect(sent).toBeLessThanOrEqual(most);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('is used up by a flood of failures, and refilled later', () => {
    const retries = new Retries(USUAL);
    let taken = 0;
    for (let i = 0; i < 1_000; i++) {
      retries.count(50_000);
      if (retries.take(50_000)) taken++;
    }
    expect(taken).toBe(100);
    expect(retries.take(70_000)).toBe(true);
  });

  test('of 0 admits no retry', () => {
    const retries = new Retries({ ...USUAL, budget: 0 });
    retries.count(1);
    expect(retries.take(1)).toBe(false);
  });
});

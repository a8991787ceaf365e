import { expect, test } from '@jest/globals';
import { history } from '../../../src/observe/peers/history.ts';
import { top } from '../../../src/observe/peers/top.ts';

/** A whole number, and later than any date. */
const NEVER = 9e15;

test('a response with an impossible date is not understood', () => {
  const about = { keyId: null, account: null, plan: null, operation: null };
  const counted = (since: number, last: number) => ({
    since,
    missing: 0,
    summary: { total: 1, floor: 0, items: [{ key: 'key:a', count: 1, error: 0, last, about }] },
  });
  expect(
    [counted(1, 1), counted(NEVER, 1), counted(1, NEVER)].map((one) =>
      top.isAnswer(one, { window: 'day', by: 'requests' }),
    ),
  ).toEqual([true, false, false]);
  const spans = (start: number) => ({ spans: [{ start, minutes: 1, policies: 0, row: '' }] });
  const asked = { from: 0, to: 1, step: '1m', row: '' } as const;
  expect([60_000, NEVER].map((start) => history.isAnswer(spans(start), asked))).toEqual([
    true,
    false,
  ]);
});

import { expect, test } from '@jest/globals';
import { readHistoryAnswer } from '../../../src/observe/peers/history.ts';
import { isTopAnswer } from '../../../src/observe/peers/top.ts';

/** A whole number, and later than any date. */
const NEVER = 9e15;

test('an answer with a moment that no date has is not understood', () => {
  const about = { keyId: null, account: null, plan: null, operation: null };
  const top = (since: number, last: number) => ({
    ...{ since, missing: 0 },
    summary: { total: 1, floor: 0, items: [{ key: 'key:a', count: 1, error: 0, last, about }] },
  });
  expect([top(1, 1), top(NEVER, 1), top(1, NEVER)].map(isTopAnswer)).toEqual([true, false, false]);
  const history = (start: number) => ({ spans: [{ start, minutes: 1, policies: 0, row: '' }] });
  expect(readHistoryAnswer(history(60_000))).toHaveLength(1);
  expect(readHistoryAnswer(history(NEVER))).toBeNull();
});

import { expect, test } from '@jest/globals';
import { type HistoryAnswer, historySince } from '../../../src/observe/peers/history.ts';

const PERIOD = { from: 100, to: 200 };

test.each<[string, (number | null | undefined)[], number]>([
  ['begins before the period', [50], 100],
  ['begins in the period', [50, 150, 120], 150],
  ['is empty', [50, null], 200],
  ['is of an older version', [undefined], 100],
])('minutes are complete since the latest begin of a history, if one %s', (_, sinces, complete) => {
  const answers = sinces.map(
    (since) => ({ spans: [], since, outages: [] }) as unknown as HistoryAnswer,
  );
  expect(historySince(PERIOD, answers)).toBe(complete);
});

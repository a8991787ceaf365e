import { expect, test } from '@jest/globals';
import { ANNOUNCE_INTERVAL, completeSince } from '../../../src/observe/peers/peers.ts';
import { mergeTop } from '../../../src/observe/peers/top.ts';

const counts = (since: number) => ({ since, summary: { total: 1, floor: 0, items: [] } });

test('merged counts are complete since the start of the last process', () => {
  expect(mergeTop('requests', [counts(5), counts(7), counts(6)])).toMatchObject({
    since: 7,
    summary: { total: 3 },
  });
});

test('counts are complete since the loss of a gateway, until it is older than the period', () => {
  const lost = (...times: number[]) => times.map((at) => ({ gateway: 'gone:1', at }));
  expect(completeSince(1_000_000, [])).toBe(1_000_000);
  expect(completeSince(1_000_000, lost(900_000, 2_000_000))).toBe(2_000_000 + ANNOUNCE_INTERVAL);
  expect(completeSince(1_000_000, lost(900_000))).toBe(1_000_000);
});

import { expect, test } from '@jest/globals';
import { joinOutages, type StateOutage } from '../../src/ledger/outages.ts';

const outage = (begin: number, end: number, policies = 1): StateOutage => ({
  begin,
  end,
  policies,
});

test.each<[string, StateOutage[], StateOutage[]]>([
  ['apart stay apart', [outage(2, 16), outage(22, 23)], [outage(2, 16), outage(22, 23)]],
  ['that adjoin are one', [outage(2, 3), outage(3, 4)], [outage(2, 4)]],
  ['of several gateways are one', [outage(2, 9), outage(1, 3), outage(4, 5)], [outage(1, 9)]],
  ['have the policies of all', [outage(2, 3, 1), outage(2, 3, 4)], [outage(2, 3, 5)]],
  ['are sorted by time', [outage(7, 8), outage(2, 3)], [outage(2, 3), outage(7, 8)]],
  ['none', [], []],
])('outages: %s', (_, given, joined) => {
  expect(joinOutages(given)).toEqual(joined);
});

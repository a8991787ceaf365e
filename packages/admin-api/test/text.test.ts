import { expect, test } from '@jest/globals';
import * as words from '../src/text/index.ts';

test.each([
  [0, '0s'],
  [-5_000, '0s'],
  [59_499, '59s'],
  [725_000, '12m 5s'],
  [86_400_000 + 4 * 3_600_000 + 61_000, '1d 4h'],
  [3_605_000, '1h'],
])('a span of %i ms is %s', (milliseconds, text) => {
  expect(words.span(milliseconds)).toBe(text);
});

test.each([
  ['2030-01-01T00:00:12Z', 'in 12s'],
  ['2029-12-31T23:57:00Z', '3m ago'],
  ['2030-01-01T00:00:00Z', '0s ago'],
])('%s is %s', (time, text) => {
  expect(words.fromNow(time, Date.parse('2030-01-01T00:00:00Z'))).toBe(text);
});

test.each([
  [{ least: 3, most: 3 }, '3'],
  [{ least: 1_200, most: 1_500 }, '1,200 to 1,500'],
  [{ least: 12, most: null }, '12 or more'],
])('refused units %j are %s', (units, text) => {
  expect(words.unitsText(units)).toBe(text);
});

test.each([
  ['bans.start', 'banned'],
  ['bans.lift.failed', 'failed: lifted'],
  ['keys.rotate', 'keys.rotate'],
])('the action %s is %s', (action, text) => {
  expect(words.actionText(action)).toBe(text);
});

test.each([
  [null, 'from any address'],
  [{ allow: ['10.0.0.0/8'], deny: [] }, 'from 10.0.0.0/8'],
  [
    { allow: [], deny: ['1', '2', '3', '4', '5', '6'] },
    'from any address, except 1 2 3 4 5 and 1 more',
  ],
])('the addresses %j are %s', (addresses, text) => {
  expect(words.addressesText(addresses)).toBe(text);
});

test.each([
  [
    1,
    1,
    '1 process did not shut down: at most its last second is missing; its busiest second had 1 request.',
  ],
  [
    3,
    1_200,
    '3 processes did not shut down: at most the last second of each is missing; their busiest seconds had 1,200 requests together.',
  ],
])('%i lost processes with %i requests are described', (count, requests, text) => {
  expect(words.lostProcesses(count, requests)).toBe(text);
});

test('requests above limits that do not refuse are summed up in sentences', () => {
  const excess = [
    { window: 'minute', excess: 'watch', requests: 12, units: 30, subjects: 3 },
    { window: 'login:day', excess: 'overage', requests: 1, units: 2, subjects: 1 },
  ] as const;
  expect(words.excessesText({ excess, count: 'key' })).toEqual([
    'minute would have refused 12 requests of 3 keys in the last day.',
    'login:day admitted 2 units above its limit, 1 request of 1 key in the last day.',
  ]);
  expect(words.excessesText({ excess: [excess[0]], count: 'account' })).toEqual([
    'minute would have refused 12 requests of 3 accounts in the last day.',
  ]);
  expect(words.excessesText({ count: 'key' })).toEqual([]);
});

test.each([
  ['none', '(no operation)'],
  ['notes/none', 'notes/(no operation)'],
  ['get /pets/none', 'get /pets/none'],
  ['listPets', 'listPets'],
  ['files/undescribed', 'files/undescribed'],
])('the operation %s is %s', (operation, text) => {
  expect(words.operationText(operation)).toBe(text);
});

import { expect, test } from '@jest/globals';
import { scopedLimits } from '../src/browser/model/sentences.ts';

test('windows that only watch have no sentence', () => {
  const watched = { 'x-ratelimit': '5/minute+watch', tags: ['a'] };
  const tag = { name: 'a', 'x-ratelimit': [{ limit: 9, per: 'day', enforce: false }] };
  expect(scopedLimits(watched, { tags: [tag] })).toEqual([]);
  expect(scopedLimits({ 'x-ratelimit': '5/minute+watch,9/day+overage' }, {})).toEqual([
    'Limited to 9 per day for this operation.',
  ]);
});

test('an operation has its own limits and those of its tags, in the short form and in the long one', () => {
  const tags = [
    {
      name: 'search',
      'x-ratelimit': [
        { limit: 30, per: 'minute' },
        { limit: 9, per: '10s', kind: 'sliding' },
      ],
    },
    { name: 'other', 'x-ratelimit': '1/day' },
    { name: 'plain' },
  ];
  expect(
    scopedLimits(
      {
        'x-ratelimit': '5/minute, 20/day:sliding,9/month:calendar:Europe/Berlin:15',
        tags: ['search', 'plain'],
      },
      { tags },
    ),
  ).toEqual([
    'Limited to 5 per minute and 20 per day (sliding) and 9 per month (calendar, Europe/Berlin) for this operation.',
    'Limited to 30 per minute and 9 per 10s (sliding) for all operations of search together.',
  ]);
  expect(scopedLimits({ tags: ['plain'] }, { tags })).toEqual([]);
  expect(scopedLimits({}, {})).toEqual([]);
});

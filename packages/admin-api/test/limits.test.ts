import { expect, test } from '@jest/globals';
import { limitsText } from '../src/text/index.ts';

test.each([
  ['60/minute,1000/day', '60 per minute, 1,000 per day'],
  ['10/10s:sliding', '10 per 10s (sliding)'],
  ['100/month:calendar:Europe/Berlin:15', '100 per month (calendar, Europe/Berlin, from day 15)'],
  ['9/day:calendar:Etc/GMT+1', '9 per day (calendar, Etc/GMT+1)'],
  [
    '5/minute+watch,7/day:sliding+overage',
    '5 per minute (only watches), 7 per day (sliding, with overage)',
  ],
  [
    '5/minute@notes,9/day@a-1:sliding+watch',
    '5 per minute for the API notes, 9 per day (sliding, only watches) for the API a-1',
  ],
  ['5/minute for the tag a', '5 per minute for the tag a'],
  ['60/minute, 20 in flight', '60 per minute, 20 in flight'],
  ['of another form', 'of another form'],
])('the limits %s read %s', (limits, text) => {
  expect(limitsText(limits)).toBe(text);
});

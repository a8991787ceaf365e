import { expect, test } from '@jest/globals';
import { limitsText } from '../src/browser/format.ts';

test.each([
  ['60/minute,1000/day', '60 per minute, 1,000 per day'],
  ['10/10s:sliding', '10 per 10s (sliding)'],
  ['of another form', 'of another form'],
])('the limits %s read %s', (limits, text) => {
  expect(limitsText(limits)).toBe(text);
});

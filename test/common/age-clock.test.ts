import { expect, test } from '@jest/globals';
import { ageClock } from '../../src/common/age-clock.ts';
import { DAY, HOUR } from '../../src/common/time.ts';

const NOON = Date.UTC(2026, 0, 1, 12);

test.each([
  ['passes as the process runs', NOON, NOON, HOUR, NOON + HOUR, NOON + HOUR],
  ['does not jump ahead', NOON, NOON, HOUR, NOON + 401 * DAY, NOON + HOUR],
  ['is set back', NOON, NOON, HOUR, NOON - 401 * DAY, NOON - 401 * DAY],
  [
    'begins a day after what is stored',
    NOON + 401 * DAY,
    NOON,
    HOUR,
    NOON + 401 * DAY,
    NOON + DAY + HOUR,
  ],
  ['begins with the clock if something stored is ahead', NOON, NOON + 401 * DAY, 0, NOON, NOON],
  ['begins with the clock if nothing is stored', NOON, null, HOUR, NOON + HOUR, NOON + HOUR],
])('the age of what is stored: %s', (_, began, newest, ran, now, expected) => {
  let elapsed = 5_000;
  const age = ageClock(began, newest, () => elapsed);
  elapsed += ran;
  expect(age(now)).toBe(expected);
});

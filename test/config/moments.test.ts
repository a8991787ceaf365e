import { expect, test } from '@jest/globals';
import { readMoment } from '../../src/config/moments.ts';

const NO_TIME = 'must be a date, time and zone, such as 2030-01-31T00:00:00Z';
const NOT_PRESENT = 'must be a day of the calendar, which';
const RANGE = 'must be from the year 1970 to the year 9999, in UTC';

test.each<[text: string, expected: number | string]>([
  ['2030-01-31T00:00:00Z', Date.UTC(2030, 0, 31)],
  ['2030-01-31t00:00:00.250z', Date.UTC(2030, 0, 31, 0, 0, 0, 250)],
  ['2026-12-02T00:00:00+05:30', Date.UTC(2026, 11, 1, 18, 30)],
  ['2028-02-29T23:59:59-12:00', Date.UTC(2028, 2, 1, 11, 59, 59)],
  ['2026-02-30T00:00:00Z', `${NOT_PRESENT} 2026-02-30 is not`],
  ['2026-13-01T00:00:00Z', `${NOT_PRESENT} 2026-13-01 is not`],
  ['2026-04-30T24:00:00Z', NO_TIME],
  ['2026-04-30T23:60:00Z', NO_TIME],
  ['2016-12-31T23:59:60Z', NO_TIME],
  ['2026-04-30T10:00:00+25:00', NO_TIME],
  ['2026-04-30T10:00:00+01:75', NO_TIME],
  ['2026-04-30T10:00:00', NO_TIME],
  ['2026-04-30', NO_TIME],
  ['', NO_TIME],
  ['1969-12-31T23:59:59Z', RANGE],
  ['9999-12-31T23:59:59-01:00', RANGE],
])('the time %j is %j', (text, expected) => {
  expect(readMoment(text)).toBe(expected);
});

test.each<[text: string, expected: number | string]>([
  ['2030-01-31', Date.UTC(2030, 0, 31)],
  ['2030-01-31T10:00:00Z', Date.UTC(2030, 0, 31, 10)],
  ['2026-02-30', `${NOT_PRESENT} 2026-02-30 is not`],
  ['2026-2-3', expect.stringContaining('a date such as 2030-01-31, or') as unknown as string],
])('the date or time %j is %j', (text, expected) => {
  expect(readMoment(text, { dates: true })).toEqual(expected);
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bordersAround, CALENDAR_SPANS, isZone, periodAt } from '../../src/limits/calendar.ts';
import { DAY, HOUR, MINUTE, SECOND, window } from '../support/limits.ts';
import { calendarWindows } from './histories.ts';

const WEEK = 7 * DAY;
const MONTH = 31 * DAY;

const iso = (time: number) => new Date(time).toISOString().replace(':00.000Z', 'Z');

function period(span: number, now: string, zone?: string, anchor?: number): string {
  const one = {
    ...window(1, span, 'calendar'),
    ...(zone !== undefined && { zone }),
    ...(anchor !== undefined && { anchor }),
  };
  const { begin, end } = periodAt(one, Date.parse(now));
  return `${iso(begin)} ${iso(end)}`;
}

describe('a day', () => {
  test.each([
    [24, 'UTC', '2026-11-26T10:12Z', '2026-11-26T00:00Z 2026-11-27T00:00Z'],
    [23, 'Europe/Berlin', '2026-03-29T12:00Z', '2026-03-28T23:00Z 2026-03-29T22:00Z'],
    [25, 'Europe/Berlin', '2026-10-25T22:59Z', '2026-10-24T22:00Z 2026-10-25T23:00Z'],
    [24, 'Asia/Kolkata', '2026-11-26T18:29Z', '2026-11-25T18:30Z 2026-11-26T18:30Z'],
    [24.5, 'Australia/Lord_Howe', '2026-04-04T20:00Z', '2026-04-04T13:00Z 2026-04-05T13:30Z'],
    // Clocks skip midnight, read it twice, and read it for a minute before the date goes back.
    [23, 'Africa/Cairo', '2026-04-24T09:00Z', '2026-04-23T22:00Z 2026-04-24T21:00Z'],
    [25, 'America/Havana', '2026-11-01T05:30Z', '2026-11-01T04:00Z 2026-11-02T05:00Z'],
    [25, 'America/St_Johns', '2008-11-02T03:00Z', '2008-11-02T02:30Z 2008-11-03T03:30Z'],
    // Samoa had no 30 December 2011.
    [24, 'Pacific/Apia', '2011-12-30T09:59Z', '2011-12-29T10:00Z 2011-12-30T10:00Z'],
    [24, 'Pacific/Apia', '2011-12-30T10:00Z', '2011-12-30T10:00Z 2011-12-31T10:00Z'],
  ])('has %d hours in %s at %s', (hours, zone, now, expected) => {
    expect(period(DAY, now, zone)).toBe(expected);
    const [begin, end] = expected.split(' ').map(Date.parse);
    expect((end! - begin!) / HOUR).toBe(hours);
  });

  test('is that of UTC without a zone', () => {
    expect(period(DAY, '2026-03-29T12:00Z')).toBe('2026-03-29T00:00Z 2026-03-30T00:00Z');
  });
});

describe('an hour', () => {
  test.each([
    ['UTC', '2026-11-26T10:12Z', '2026-11-26T10:00Z 2026-11-26T11:00Z'],
    ['Asia/Kathmandu', '2026-11-26T10:12Z', '2026-11-26T09:15Z 2026-11-26T10:15Z'],
    // 02:30 comes twice, and each of both hours is a window.
    ['Europe/Berlin', '2026-10-25T00:30Z', '2026-10-25T00:00Z 2026-10-25T01:00Z'],
    ['Europe/Berlin', '2026-10-25T01:30Z', '2026-10-25T01:00Z 2026-10-25T02:00Z'],
    // A shift by half an hour makes a window of half an hour.
    ['Australia/Lord_Howe', '2026-04-04T15:10Z', '2026-04-04T15:00Z 2026-04-04T15:30Z'],
    ['Australia/Lord_Howe', '2026-10-03T15:45Z', '2026-10-03T15:30Z 2026-10-03T16:00Z'],
  ])('begins when clocks in %s read a full hour: %s', (zone, now, expected) => {
    expect(period(HOUR, now, zone)).toBe(expected);
  });
});

describe('a week', () => {
  test.each([
    ['on Monday by default', undefined, '2026-11-23T00:00Z 2026-11-30T00:00Z'],
    ['on Friday', 5, '2026-11-20T00:00Z 2026-11-27T00:00Z'],
    ['on Sunday', 7, '2026-11-22T00:00Z 2026-11-29T00:00Z'],
  ])('begins %s', (_name, anchor, expected) => {
    expect(period(WEEK, '2026-11-26T10:12Z', 'UTC', anchor)).toBe(expected);
  });
});

describe('a month', () => {
  test.each([
    [undefined, '2026-11-26T10:12Z', '2026-11-01T00:00Z 2026-12-01T00:00Z'],
    [15, '2026-11-14T23:59Z', '2026-10-15T00:00Z 2026-11-15T00:00Z'],
    [15, '2026-12-15T00:00Z', '2026-12-15T00:00Z 2027-01-15T00:00Z'],
    // A month without the day begins with its last one.
    [29, '2027-02-27T23:59Z', '2027-01-29T00:00Z 2027-02-28T00:00Z'],
    [29, '2028-02-28T23:59Z', '2028-01-29T00:00Z 2028-02-29T00:00Z'],
    [31, '2027-02-28T00:00Z', '2027-02-28T00:00Z 2027-03-31T00:00Z'],
    [31, '2026-12-31T00:00Z', '2026-12-31T00:00Z 2027-01-31T00:00Z'],
  ])('with the anchor %s contains %s', (anchor, now, expected) => {
    expect(period(MONTH, now, 'UTC', anchor)).toBe(expected);
  });

  test('has an hour more where summer time ends', () => {
    expect(period(MONTH, '2026-10-10T00:00Z', 'Europe/Berlin')).toBe(
      '2026-09-30T22:00Z 2026-10-31T23:00Z',
    );
  });
});

describe('periods', () => {
  const times = fc.integer({ min: 0, max: Date.UTC(2037, 0, 1) });

  test('follow one another without gap or overlap, so each instant is in exactly one', () => {
    fc.assert(
      fc.property(calendarWindows, times, (one, now) => {
        const { begin, end } = periodAt(one, now);
        expect(now).toBeGreaterThanOrEqual(begin);
        expect(now).toBeLessThan(end);
        for (const inside of [begin, end - 1, Math.floor((begin + end) / 2)])
          expect(periodAt({ ...one }, inside)).toEqual({ begin, end });
        expect(periodAt({ ...one }, end).begin).toBe(end);
        expect(periodAt({ ...one }, begin - 1).end).toBe(begin);
      }),
      { numRuns: 1_000 },
    );
  });

  test('have the usual length, but for a shift of clocks and the length of months', () => {
    fc.assert(
      fc.property(calendarWindows, times, (one, now) => {
        const { begin, end } = periodAt(one, now);
        expect(end - begin).toBeLessThanOrEqual(one.span + HOUR);
        const shortest = { [HOUR]: SECOND, [DAY]: 22 * HOUR, [WEEK]: WEEK - HOUR };
        expect(end - begin).toBeGreaterThanOrEqual(shortest[one.span] ?? 28 * DAY - HOUR);
      }),
    );
  });

  test('begin when clocks of the zone read a full hour or midnight', () => {
    fc.assert(
      fc.property(
        calendarWindows,
        fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2030, 0, 1) }),
        (one, now) => {
          const { begin } = periodAt(one, now);
          const read = new Intl.DateTimeFormat('en-GB', {
            timeZone: one.zone!,
            timeStyle: 'medium',
          }).format(begin);
          // Lord Howe moves its clocks from 02:00 to 02:30.
          if (one.span === HOUR) expect(read).toMatch(/^\d\d:(00|30):00$/);
          else expect(read).toBe('00:00:00');
        },
      ),
    );
  });

  test('have borders for clocks that differ', () => {
    fc.assert(
      fc.property(calendarWindows, times, (one, now) => {
        const { begin, end } = periodAt(one, now);
        expect(bordersAround(one, now)).toEqual([begin, end, periodAt({ ...one }, end).end]);
      }),
    );
  });

  test('are found again after the clock has passed them', () => {
    const one = window(1, DAY, 'calendar');
    const midnight = Date.parse('2026-11-27T00:00Z');
    const begins = [midnight - 1, midnight, midnight - 1].map((now) => periodAt(one, now).begin);
    expect(begins).toEqual([midnight - DAY, midnight, midnight - DAY]);
  });
});

test.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['Etc/GMT-3', true],
  ['Europe/Berln', false],
  ['+01:00', false],
  ['', false],
  ['../Berlin', false],
])('%j is a time zone: %s', (zone, expected) => {
  expect(isZone(zone)).toBe(expected);
});

test('the spans of calendar windows are those of their words', () => {
  expect(CALENDAR_SPANS).toEqual({ hour: 60 * MINUTE, day: DAY, week: WEEK, month: MONTH });
});

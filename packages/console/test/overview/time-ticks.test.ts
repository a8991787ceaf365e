import { expect, test } from '@jest/globals';
import { ticksOf } from '../../src/browser/parts/ticks.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
/** A time of the clock of this machine. */
const local = (text: string) => new Date(text).getTime();
const line = (end: number, count: number, length: number) =>
  Array.from({ length: count }, (_, i) => end - (count - 1 - i) * length);
const texts = (...given: Parameters<typeof ticksOf>) => ticksOf(...given).map(({ text }) => text);

test('ticks are at round times, and one is at the newest step', () => {
  const hour = line(local('2030-01-31T10:37:00'), 60, MINUTE);
  expect(texts(hour, 'minute', 8)).toEqual(['09:40', '09:50', '10:00', '10:10', '10:20', '10:37']);
  expect(ticksOf(hour, 'minute', 8)).toContainEqual({ step: 22, text: '10:00' });
  expect(ticksOf(hour, 'minute', 8).at(-1)).toEqual({ step: 59, text: '10:37' });
  expect(texts(hour, 'minute', 3)).toEqual(['10:00', '10:37']);
  expect(texts(hour, 'minute', 1)).toEqual(['10:37']);
});

test('polls that are late have the round time that they passed', () => {
  const polls = line(local('2030-01-31T10:37:11'), 60, 2 * SECOND).map((at, i) => at + 10 * i);
  expect(texts(polls, 'second', 6)).toEqual(['10:35:30', '10:36:00', '10:36:30', '10:37:11']);
});

test('the date is only where it changes', () => {
  const day = line(local('2030-02-01T10:30:00'), 144, 10 * MINUTE);
  expect(texts(day, 'minute', 8)).toEqual([
    '12:00',
    '15:00',
    '18:00',
    '21:00',
    '00:00\n1 Feb',
    '03:00',
    '06:00',
    '10:30',
  ]);
  const late = line(local('2030-02-01T00:05:00'), 60, MINUTE);
  expect(texts(late, 'minute', 5).at(-1)).toBe('00:05\n1 Feb');
});

test('days are dates of UTC', () => {
  const month = line(Date.UTC(2030, 0, 31), 31, DAY);
  expect(texts(month, 'day', 8)).toEqual([
    '6 Jan',
    '11 Jan',
    '16 Jan',
    '21 Jan',
    '26 Jan',
    '31 Jan',
  ]);
  expect(texts([Date.UTC(2030, 0, 1)], 'day', 8)).toEqual(['1 Jan']);
  expect(texts([], 'day', 8)).toEqual([]);
});

test.each(['America/New_York', 'Asia/Kolkata'])('hours are those of the clock in %s', (zone) => {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    const hours = line(local('2030-01-31T10:00:00'), 24, HOUR);
    expect(texts(hours, 'hour', 5)).toContain('00:00\n31 Jan');
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});

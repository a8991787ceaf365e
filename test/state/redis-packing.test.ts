import { expect, test } from '@jest/globals';
import { KIND_NAMES } from '../../src/limits/kinds.ts';
import { type PackedLimits, packLimits, packWithBorders } from '../../src/state/redis/packing.ts';
import {
  calendar,
  DAY,
  ESCALATION,
  HOUR,
  limits,
  MINUTE,
  TestClock,
  window,
} from '../support/limits.ts';

const BANS = '[10,60000,1,1,100,86400000,60000,300000,1800000,7200000,86400000]';

/** Counters in Redis are kept under these very texts, and gateways of other versions send them. */
test.each<[string, ReturnType<typeof limits>, PackedLimits]>([
  ['a fixed window', limits([window(60, MINUTE, 'fixed')], null), ['60000', '[0,60000,60]', '']],
  [
    'a sliding window',
    limits([window(500, HOUR, 'sliding')], null),
    ['s3600000', '[1,3600000,500]', ''],
  ],
  [
    'several windows and an escalation',
    limits([window(60, MINUTE), window(500, HOUR, 'sliding'), window(1000, DAY)], ESCALATION),
    ['60000,s3600000,86400000', '[0,60000,60,1,3600000,500,0,86400000,1000]', BANS],
  ],
])('%s is sent byte for byte as ever', (_name, given, packed) => {
  expect(packLimits(given)).toEqual(packed);
  expect(packWithBorders(given, failing)).toEqual(packed);
});

/** Without calendar windows no clock is read. */
const failing = (): number => {
  throw new Error('the clock was read');
};

test('borders of calendar windows are sent, and not stored with counters', () => {
  const given = limits([calendar(500, DAY, 'Europe/Berlin'), window(9000, 30 * DAY)], null);
  const midnight = Date.parse('2026-11-26T23:00Z');
  const clock = new TestClock(midnight - 1);
  const ids = 'c86400000,2592000000';
  expect(packLimits(given)).toEqual([ids, '[2,86400000,500,0,2592000000,9000]', '']);
  const sent = packWithBorders(given, clock.read);
  const borders = [midnight - DAY, midnight, midnight + DAY];
  const numbers = JSON.stringify([2, DAY, 500, borders, 0, 30 * DAY, 9000]);
  expect(sent).toEqual([ids, numbers, '']);
  clock.pass(-HOUR);
  expect(packWithBorders(given, clock.read)).toBe(sent);
  clock.pass(HOUR + 1);
  expect(packWithBorders(given, clock.read)[1]).toContain(`[${midnight},`);
});

test('limits are packed once', () => {
  const given = limits([window(60, MINUTE)]);
  expect(packLimits(given)).toBe(packLimits(given));
});

test('windows of one span and different kinds have different ids', () => {
  const ids = KIND_NAMES.map((kind) => packLimits(limits([window(1, HOUR, kind)]))[0]);
  expect(new Set(ids).size).toBe(KIND_NAMES.length);
});

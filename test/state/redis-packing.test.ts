import { expect, test } from '@jest/globals';
import { KIND_NAMES } from '../../src/limits/kinds.ts';
import { type PackedLimits, packLimits } from '../../src/state/redis/packing.ts';
import { DAY, ESCALATION, HOUR, limits, MINUTE, window } from '../support/limits.ts';

const BANS = '[10,60000,1,100,86400000,60000,300000,1800000,7200000,86400000]';

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
});

test('limits are packed once', () => {
  const given = limits([window(60, MINUTE)]);
  expect(packLimits(given)).toBe(packLimits(given));
});

test('windows of one span and different kinds have different ids', () => {
  const ids = KIND_NAMES.map((kind) => packLimits(limits([window(1, MINUTE, kind)]))[0]);
  expect(new Set(ids).size).toBe(KIND_NAMES.length);
});

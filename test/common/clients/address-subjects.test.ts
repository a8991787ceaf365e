import { expect, test } from '@jest/globals';
import { createAddressSubjects } from '../../../src/common/clients/address-subjects.ts';
import { createCounterQuota } from '../../../src/common/clients/counter-quota.ts';
import { DAY } from '../../../src/common/time.ts';
import { TestClock } from '../../support/limits.ts';

test('each address has counters, and each IPv6 /64', () => {
  const subjects = createAddressSubjects(() => 0);
  expect(subjects.of('192.0.2.1')).toBe('address:192.0.2.1');
  expect(subjects.of('2001:db8::1')).toBe(subjects.of('2001:db8::ffff:2'));
  expect(subjects.of('2001:db8:0:1::1')).not.toBe(subjects.of('2001:db8::1'));
});

test('further addresses share a bounded number of counters until the day ends', () => {
  const clock = new TestClock();
  const subjects = createAddressSubjects(clock.read, createCounterQuota(10));
  const address = (i: number) => `10.0.${i >> 8}.${i & 255}`;
  const all = new Set(Array.from({ length: 20_000 }, (_, i) => subjects.of(address(i))));
  expect(all.size).toBeLessThanOrEqual(10 + 1_024);
  expect(subjects.of(address(3))).toBe('address:10.0.0.3');
  expect(subjects.of(address(300))).toMatch(/^address:shared-ipv4-\d+$/);
  clock.now += DAY;
  expect(subjects.of(address(300))).toBe(`address:${address(300)}`);
});

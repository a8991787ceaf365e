import { describe, expect, test } from '@jest/globals';
import { createAddressWindow } from '../../../src/common/clients/address-window.ts';
import { createGuard } from '../../../src/common/clients/guard.ts';
import { remainingIn } from '../../../src/limits/admission.ts';
import { until } from '../../support/until.ts';

describe('the guard', () => {
  test('counts failures per address and reports when the limit is exceeded', async () => {
    const guard = createGuard({ failures: 2, window: 60_000 });
    const results: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      const { exhausted, readings } = await guard.fail('198.51.100.1');
      results.push([exhausted, remainingIn(readings[0]!)]);
    }
    expect(results).toEqual([
      [false, 1],
      [false, 0],
      [true, 0],
    ]);
    expect((await guard.fail('198.51.100.2')).exhausted).toBe(false);
  });

  test('counts an IPv6 /64 as one client', async () => {
    const guard = createGuard({ failures: 1, window: 60_000 });
    await guard.fail('2001:db8::1');
    expect((await guard.fail('2001:db8::2')).exhausted).toBe(true);
    expect((await guard.fail('2001:db8:0:1::1')).exhausted).toBe(false);
  });

  test('counts the given units', async () => {
    const window = createAddressWindow({ name: 'pages', kind: 'fixed', limit: 10, span: 60_000 });
    const remaining = async (units: number) =>
      remainingIn((await window.take('198.51.100.1', units)).readings[0]!);
    expect([await remaining(1), await remaining(8), await remaining(3)]).toEqual([9, 1, 0]);
    expect((await window.take('198.51.100.1')).exhausted).toBe(true);
    expect((await window.take('198.51.100.2', 10)).exhausted).toBe(false);
  });

  test('does not count look-ups', async () => {
    const guard = createGuard({ failures: 1, window: 60_000 });
    for (let i = 0; i < 5; i++)
      expect(remainingIn((await guard.look('198.51.100.1')).readings[0]!)).toBe(1);
    expect((await guard.fail('198.51.100.1')).exhausted).toBe(false);
  });

  test('keeps nothing of a flood that is over', async () => {
    const window = createAddressWindow({ name: 'failures', kind: 'fixed', limit: 1, span: 1_000 });
    for (let i = 0; i < 10_000; i++) await window.take(`10.0.${i >> 8}.${i & 255}`);
    expect(window.size).toBeGreaterThan(0);
    await until('the last window is over', () => window.size === 0);
  });

  test('continues to count beyond its number of distinct addresses', async () => {
    const guard = createGuard({ failures: 3, window: 60_000 });
    for (let i = 0; i < 100_000; i++)
      await guard.fail(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    let exhausted = false;
    for (let i = 0; i < 4; i++) ({ exhausted } = await guard.fail('203.0.113.1'));
    expect(exhausted).toBe(true);
    expect((await guard.fail('10.0.0.1')).exhausted).toBe(false);
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { levelsOf, mostPerAddress } from '../../../src/gateway/wire/connection-levels.ts';

describe('auto gives one address', () => {
  test.each([
    [10_000, 1_000],
    [1_000_000, 100_000],
    [2_000, 256],
    [300, 150],
    [3, 2],
    [1, 1],
  ])('of %i connections %i', (maxConnections, most) => {
    expect(mostPerAddress({ maxConnections, maxConnectionsPerAddress: 'auto' })).toBe(most);
  });

  test('the configured number, if there is one', () => {
    expect(mostPerAddress({ maxConnections: 10, maxConnectionsPerAddress: 50 })).toBe(50);
  });
});

describe('of all connections', () => {
  test.each([
    [10_000, 10_000, 9_500, 9_000, 8_900, 8_800],
    [200, 200, 190, 180, 178, 176],
    [10, 10, 10, 9, 8, 7],
    [1, 1, 1, 1, 0, -1],
  ])(
    'of %i new connections may have %i, small networks %i, large ones %i; idle ones end above %i down to %i',
    (all, ...numbers) => {
      const { full, roomy, made } = levelsOf(all);
      expect([full.newcomer, full.small, full.large, roomy, made]).toEqual(numbers);
      expect(full.known).toBe(full.small);
    },
  );

  test('each kind of network has its part before the next', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (all) => {
        const { full, roomy, made } = levelsOf(all);
        const ordered = [made, roomy, full.large, full.small, full.newcomer];
        expect(ordered).toEqual([...ordered].sort((a, b) => a - b));
        expect(full.newcomer).toBe(all);
        expect(roomy).toBeLessThan(full.large);
        expect(made).toBeLessThan(roomy);
      }),
    );
  });
});

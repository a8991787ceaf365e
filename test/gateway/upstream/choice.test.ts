import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chosen } from '../../../src/gateway/upstream/choice.ts';

const store = fc.record({ weight: fc.integer({ min: 1, max: 1000 }), load: fc.integer({ min: 0, max: 1000 }) });
const places = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

/** How often each is chosen of so many times, by a random number that is the same each time. */
function sharesOf(all: readonly { weight: number; load: number }[], times: number): number[] {
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const counts = all.map(() => 0);
  for (let i = 0; i < times; i++) counts[all.indexOf(chosen(all, random))]! += 1;
  return counts.map((count) => count / times);
}

describe('the choice', () => {
  test('is one of them, whatever the weights and the random numbers', () => {
    fc.assert(
      fc.property(fc.array(store, { minLength: 2, maxLength: 9 }), fc.infiniteStream(places), (all, random) => {
        expect(all).toContain(chosen(all, () => random.next().value as number));
      }),
    );
  });

  test('of two is the one with fewer requests for its weight', () => {
    fc.assert(
      fc.property(store, store, fc.infiniteStream(places), (one, other, random) => {
        fc.pre(one.load / one.weight < other.load / other.weight);
        expect(chosen([one, other], () => random.next().value as number)).toBe(one);
      }),
    );
  });

  test('never is the busiest of many', () => {
    const all = [0, 1, 2, 3].map((load) => ({ weight: 1, load }));
    expect(sharesOf(all, 10_000)[3]).toBe(0);
  });

  test.each([[[1, 1]], [[1, 3]], [[1, 2, 5, 2]]])('with nothing to do shares by the weights %j', (weights) => {
    const sum = weights.reduce((all, weight) => all + weight, 0);
    const shares = sharesOf(
      weights.map((weight) => ({ weight, load: 0 })),
      20_000,
    );
    weights.forEach((weight, i) => void expect(shares[i]).toBeCloseTo(weight / sum, 1));
  });
});

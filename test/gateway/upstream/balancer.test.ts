import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pickCandidate } from '../../../src/gateway/upstream/balancer.ts';

const backend = fc.record({
  weight: fc.integer({ min: 1, max: 1000 }),
  load: fc.integer({ min: 0, max: 1000 }),
});
const places = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

function randomness(): () => number {
  let seed = 1;
  return () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
}

function sharesUnderWay(weights: readonly number[], underWay: number, times: number): number[] {
  const random = randomness();
  const all = weights.map((weight) => ({ weight, load: 0, count: 0 }));
  const busy: (typeof all)[number][] = [];
  for (let i = 0; i < times; i++) {
    if (busy.length === underWay) busy.splice(Math.floor(random() * underWay), 1)[0]!.load--;
    const one = pickCandidate(all, random);
    one.load++;
    one.count++;
    busy.push(one);
  }
  return all.map(({ count }) => count / times);
}

function sharesOf(all: readonly { weight: number; load: number }[], times: number): number[] {
  const random = randomness();
  const counts = all.map(() => 0);
  for (let i = 0; i < times; i++) counts[all.indexOf(pickCandidate(all, random))]! += 1;
  return counts.map((count) => count / times);
}

describe('the choice', () => {
  test('is one of the backends, whatever the weights and the random numbers', () => {
    fc.assert(
      fc.property(
        fc.array(backend, { minLength: 2, maxLength: 9 }),
        fc.infiniteStream(places),
        (all, random) => {
          expect(all).toContain(pickCandidate(all, () => random.next().value as number));
        },
      ),
    );
  });

  test('of two is the one with fewer requests for its weight', () => {
    fc.assert(
      fc.property(backend, backend, fc.infiniteStream(places), (one, other, random) => {
        fc.pre((one.load + 0.5) / one.weight < other.load / other.weight);
        expect(pickCandidate([one, other], () => random.next().value as number)).toBe(one);
      }),
    );
  });

  test('is never the busiest of many', () => {
    const all = [0, 1, 2, 3].map((load) => ({ weight: 1, load }));
    expect(sharesOf(all, 10_000)[3]).toBe(0);
  });

  test.each([[[1, 1]], [[1, 3]], [[1, 2, 5, 2]]])(
    'follows the weights %j without load',
    (weights) => {
      const sum = weights.reduce((all, weight) => all + weight, 0);
      const shares = sharesOf(
        weights.map((weight) => ({ weight, load: 0 })),
        20_000,
      );
      weights.forEach((weight, i) => void expect(shares[i]).toBeCloseTo(weight / sum, 1));
    },
  );

  test.each([
    [[1, 9], 2],
    [[1, 9], 5],
    [[1, 9], 30],
    [[1, 99], 2],
    [[1, 99], 10],
    [[0.1, 1, 1], 3],
  ])('follows the weights %j with %i requests in flight', (weights, underWay) => {
    const sum = weights.reduce((all, weight) => all + weight, 0);
    const least = weights[0]! / sum;
    const [share] = sharesUnderWay(weights, underWay, 50_000);
    expect(share).toBeGreaterThan(least * 0.6);
    expect(share).toBeLessThan(least * 1.25);
  });
});

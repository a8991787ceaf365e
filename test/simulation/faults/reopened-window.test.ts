import { expect, test } from '@jest/globals';
import { MINUTE } from '../../../src/common/time.ts';
import type { Mistake } from '../redis/scripts.ts';
import { simulate } from '../simulation.ts';
import { burst, plansWith, SEED, testKey, windowOf } from './support.ts';

const LIMIT = 10;

/**
 * What one window admits that is opened again shortly before the counters of the last one expire in
 * Redis.
 */
async function admittedInReopened(mistake: Mistake | null): Promise<number> {
  return simulate(
    { seed: SEED, gateways: 1, plans: plansWith([windowOf(LIMIT)]) },
    async (simulation) => {
      const { world, redis, gateways } = simulation;
      if (mistake) redis.mistakes.add(mistake);
      const key = await testKey(simulation);
      await burst(simulation, gateways[0]!, key, 1);
      await world.pass(MINUTE + 500);
      const first = await burst(simulation, gateways[0]!, key, LIMIT);
      await world.pass(600);
      const second = await burst(simulation, gateways[0]!, key, LIMIT);
      return [...first, ...second].filter(({ status }) => status === 200).length;
    },
  );
}

test('a window that is opened again keeps its count until its end', async () => {
  expect(await admittedInReopened(null)).toBe(LIMIT);
});

test('the simulation notices a window that does not extend the life of its counters', async () => {
  expect(await admittedInReopened('reopened window keeps its lifetime')).toBe(2 * LIMIT);
});

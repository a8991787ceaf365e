import { describe, expect, test } from '@jest/globals';
import { HOUR, MINUTE } from '../../../src/common/time.ts';
import type { Key } from '../clients.ts';
import { simulate } from '../simulation.ts';
import { burst, one, plansWith, SEED, testKey, windowOf } from './support.ts';

const LIMIT = 5;
const PLANS = plansWith([windowOf(LIMIT)]);
const UNKNOWN: Key = { id: '', secret: 'unknown', account: '', plan: '' };

/** Other windows, and bans: test/state/contract.ts. */
describe('no client waits longer than its window after a clock was set back', () => {
  test('of a gateway that counts failed attempts of an address', async () => {
    await simulate({ seed: SEED, gateways: 0, plans: PLANS }, async (simulation) => {
      const { world, gateways } = simulation;
      const [gateway] = gateways;
      gateway!.machine.setClock(world.now, HOUR);
      await burst(simulation, gateway!, UNKNOWN, 61);
      gateway!.machine.setClock(world.now, 0);
      await world.pass(10_000);
      const { retryAfter } = await one(simulation, gateway!, UNKNOWN);
      expect(retryAfter).toBeLessThanOrEqual(MINUTE / 1_000 + 1);
      await world.pass(MINUTE + 2_000);
      expect((await one(simulation, gateway!, UNKNOWN)).status).toBe(401);
    });
  });

  test('of a Redis that gets the counts of an outage', async () => {
    await simulate({ seed: SEED, gateways: 1, plans: PLANS }, async (simulation) => {
      const { world, network, redis, gateways } = simulation;
      const gateway = gateways[0]!;
      const key = await testKey(simulation);
      await one(simulation, gateway, key);
      // No response teaches the gateway the new time before the outage.
      redis.process.machine.setClock(world.now, -HOUR);
      await world.pass(2 * MINUTE);
      network.change('g1', { isCut: true });
      await burst(simulation, gateway, key, LIMIT + 1);
      network.change('g1', { isCut: false });
      await world.pass(5_000);
      const { retryAfter } = await one(simulation, gateway, key);
      expect(retryAfter ?? 0).toBeLessThanOrEqual(MINUTE / 1_000 + 1);
    });
  });
});

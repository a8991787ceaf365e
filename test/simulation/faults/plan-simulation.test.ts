import { expect, test } from '@jest/globals';
import { HOUR } from '../../../src/common/time.ts';
import { simulate } from '../simulation.ts';
import { burst, plansWith, SEED, testKey, windowOf } from './support.ts';

const SENT = 15;

test('a plan is simulated with what was sent, also during an outage', async () => {
  await simulate(
    { seed: SEED, gateways: 2, plans: plansWith([windowOf(10_000, HOUR)]) },
    async (simulation) => {
      const { world, network, gateways } = simulation;
      const gateway = gateways[0]!;
      const key = await testKey(simulation);
      await burst(simulation, gateway, key, 1);
      await world.pass(5_000);
      network.change('g1', { isCut: true });
      await burst(simulation, gateway, key, SENT - 1);
      network.change('g1', { isCut: false });
      await world.pass(10_000);
      // Redis has the units of the outage now, and its reading is exact.
      await burst(simulation, gateway, key, 1);
      const shown = await world.settle(
        gateway.within(({ lastDay }) => lastDay('test', plansWith([windowOf(10, HOUR)]))),
      );
      expect(shown!.subjects.map(({ windows }) => windows.map(({ peak }) => peak))).toEqual([
        [SENT + 1],
      ]);
    },
  );
});

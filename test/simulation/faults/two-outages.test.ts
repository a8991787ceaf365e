import { expect } from '@jest/globals';
import { createKey } from '../clients.ts';
import { type Simulation, simulate } from '../simulation.ts';
import { faultTest } from './fault-test.ts';
import { one, SEED } from './support.ts';

/** Redis is unreachable for `duration` milliseconds, while requests come. */
async function outage(
  simulation: Simulation,
  key: Awaited<ReturnType<typeof createKey>>,
  duration: number,
) {
  const { world, network, gateways } = simulation;
  network.change('g1', { isCut: true });
  for (const end = world.now + duration; world.now < end; await world.pass(100))
    await one(simulation, gateways[0]!, key);
  network.change('g1', { isCut: false });
  await world.pass(10_000);
}

faultTest(
  9,
  'each of two outages within a minute begins once and ends once for webhooks',
  async () => {
    await simulate({ seed: SEED, gateways: 1 }, async (simulation) => {
      const { receiver } = simulation;
      const key = await createKey(simulation, 'pro');
      await outage(simulation, key, 5_000);
      await outage(simulation, key, 5_000);
      const types = receiver.delivered
        .map(({ type }) => type)
        .filter((type) => type.startsWith('state.'));
      expect(types.sort()).toEqual(['state.down', 'state.down', 'state.up', 'state.up']);
    });
  },
);

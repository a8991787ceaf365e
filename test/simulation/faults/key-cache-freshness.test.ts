import { expect, test } from '@jest/globals';
import { createKey } from '../clients.ts';
import { simulate } from '../simulation.ts';
import { one, SEED } from './support.ts';

/**
 * Several, so that the revocation comes at different moments between two updates of the freshness.
 */
const TRIES = 8;

test('the key cache is never fresher than the last message that it has received', async () => {
  for (let i = 0; i < TRIES; i++) {
    await simulate({ seed: SEED + i, gateways: 2 }, async (simulation) => {
      const { world, network, gateways } = simulation;
      const [revoking, cutOff] = [gateways[0]!, gateways[1]!];
      const key = await createKey(simulation, 'pro');
      await one(simulation, cutOff, key);
      await world.pass(12_000 + i * 600);
      network.change('g2', { isCut: true }, ['from'], ['messages']);
      await world.settle(revoking.operate('revokeKey', { path: { id: key.id } }));
      const revokedAt = world.now;
      for (const end = world.now + 10_000; world.now < end; await world.pass(100)) {
        const keys = cutOff.within(({ storage }) => storage.lastKnown!.keys()!);
        const record = await world.settle(cutOff.within(async () => keys.get(key.id)));
        if (record?.revokedAt === null) expect(keys.asOf).toBeLessThan(revokedAt);
      }
    });
  }
});

import { expect, test } from '@jest/globals';
import { createKey } from '../clients.ts';
import { simulate } from '../simulation.ts';
import { one, SEED } from './support.ts';

/** Several, so that the revocation comes at different moments between two readings of the log. */
const TRIES = 8;
/** Virtual milliseconds: between two readings, and of one. */
const READING = 1_010;

test('without messages, a revoked key is refused after a second', async () => {
  for (let i = 0; i < TRIES; i++) {
    await simulate({ seed: SEED + i, gateways: 2 }, async (simulation) => {
      const { world, network, gateways } = simulation;
      const [revoking, deaf] = [gateways[0]!, gateways[1]!];
      const key = await createKey(simulation, 'pro');
      await one(simulation, deaf, key);
      await world.pass(12_000 + i * 130);
      network.change('g2', { isCut: true }, ['from'], ['messages']);
      await world.settle(revoking.operate('revokeKey', { path: { id: key.id } }));
      const revokedAt = world.now;
      const existing = () =>
        deaf.within(({ storage }) => {
          const { asOf, get } = storage.lastKnown!.keys()!;
          return { asOf, revokedAt: (get(key.id) as { revokedAt: number | null }).revokedAt };
        });
      while (world.now < revokedAt + READING) {
        const copy = existing();
        if (copy.revokedAt === null) expect(copy.asOf).toBeLessThan(revokedAt);
        await world.pass(50);
      }
      for (const end = world.now + 5_000; world.now < end; await world.pass(100))
        expect((await one(simulation, deaf, key)).status).toBe(401);
    });
  }
});

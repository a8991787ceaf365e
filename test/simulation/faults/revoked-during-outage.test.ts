import { expect } from '@jest/globals';
import { createKey } from '../clients.ts';
import { simulate } from '../simulation.ts';
import { faultTest } from './fault-test.ts';
import { one, SEED } from './support.ts';

/** Which connection is back first depends on chance. */
const TRIES = 5;

faultTest(
  4,
  'a key that was revoked during an outage is refused everywhere 2 s after it',
  async () => {
    for (let seed = SEED; seed < SEED + TRIES; seed++) {
      await simulate({ seed, gateways: 2 }, async (simulation) => {
        const { world, network, gateways } = simulation;
        const [revoking, cutOff] = [gateways[0]!, gateways[1]!];
        const key = await createKey(simulation, 'pro');
        await one(simulation, cutOff, key);
        // The key cache has the key.
        await world.pass(10_000);
        network.change('g2', { isCut: true });
        for (let i = 0; i < 50; i++) {
          await one(simulation, cutOff, key);
          await world.pass(100);
        }
        await world.settle(revoking.operate('revokeKey', { path: { id: key.id } }));
        network.change('g2', { isCut: false });
        const healed = world.now;
        const passed: number[] = [];
        while (world.now < healed + 40_000) {
          const { status } = await one(simulation, cutOff, key);
          if (status === 200 && world.now > healed + 2_000) passed.push(world.now - healed);
          await world.pass(50);
        }
        expect({ seed, passed: passed.length, last: passed.at(-1) }).toEqual({ seed, passed: 0 });
      });
    }
  },
);

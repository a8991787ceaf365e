import { expect, test } from '@jest/globals';
import { simulate } from '../simulation.ts';
import { burst, one, plansWith, SEED, testKey, windowOf } from './support.ts';

const LIMIT = 5;
const PLANS = plansWith([windowOf(LIMIT)]);

test('a gateway starts after a clean stop and a loss of power, with its counters', async () => {
  await simulate({ seed: SEED, gateways: 0, plans: PLANS }, async (simulation) => {
    const { world, gateways, disk } = simulation;
    const gateway = gateways[0]!;
    const key = await testKey(simulation);
    await burst(simulation, gateway, key, LIMIT);
    await world.pass(1_000);
    // A change of an operator is synced, and with it that the counters have a log.
    await testKey(simulation);
    await world.settle(gateway.end());
    await world.settle(gateway.start());
    gateway.kill();
    disk.losePower(gateway.machine.folder);
    await world.settle(gateway.start());
    expect((await one(simulation, gateway, key)).status).toBe(429);
  });
});

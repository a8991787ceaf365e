import { expect, test } from '@jest/globals';
import { RECORDS_SLOT } from '../../../src/state/redis/key-names.ts';
import { createKey } from '../clients.ts';
import { simulate } from '../simulation.ts';
import { one, SEED } from './support.ts';

/** Virtual milliseconds after which gateways believe that records are lost. */
const BELIEVED = 30_000;

test('a gateway that starts before lost records are believed keeps its keys', async () => {
  await simulate({ seed: SEED, gateways: 2 }, async (simulation) => {
    const { world, redis, gateways } = simulation;
    const key = await createKey(simulation, 'pro');
    await world.pass(5_000);
    const lostAt = world.now;
    const records = redis.data.backUp(RECORDS_SLOT);
    redis.data.restore(RECORDS_SLOT, new Map());
    await world.pass(5_000);
    gateways[1]!.kill();
    await world.settle(gateways[1]!.start());
    for (; world.now < lostAt + BELIEVED - 2_000; await world.pass(1_000))
      for (const gateway of gateways)
        expect((await one(simulation, gateway, key)).status).toBe(200);
    redis.data.restore(RECORDS_SLOT, records);
    await world.pass(2_000);
    for (const gateway of gateways) expect((await one(simulation, gateway, key)).status).toBe(200);
  });
});

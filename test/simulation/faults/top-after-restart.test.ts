import { expect } from '@jest/globals';
import { createKey } from '../clients.ts';
import { simulate } from '../simulation.ts';
import { faultTest } from './fault-test.ts';
import { burst, SEED } from './support.ts';

faultTest(8, 'top counts everything, also what came before a restart', async () => {
  await simulate({ seed: SEED, gateways: 2 }, async (simulation) => {
    const { world, gateways } = simulation;
    const [restarted, other] = [gateways[0]!, gateways[1]!];
    const key = await createKey(simulation, 'pro');
    await world.pass(30_000);
    const sent = [
      ...(await burst(simulation, restarted, key, 10)),
      ...(await burst(simulation, other, key, 5)),
    ];
    await world.settle(restarted.end());
    await world.settle(restarted.start());
    await world.pass(10_000);
    const body = await world.settle(other.operate('getTop', { query: { window: 'hour' } }));
    const since = Date.parse(body.since!);
    expect(body.total).toBe(sent.length);
    expect(since).toBeLessThan(sent[0]!.sentAt);
  });
});

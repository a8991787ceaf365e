import { expect } from '@jest/globals';
import { MINUTE } from '../../../src/common/time.ts';
import { simulate } from '../simulation.ts';
import { faultTest } from './fault-test.ts';
import { one, plansWith, refusalsToBan, SEED, testKey, untilBanned, windowOf } from './support.ts';

const PLANS = plansWith([windowOf(5)]);

faultTest(
  2,
  'a ban is longer than the one before, also after a request without a key',
  async () => {
    await simulate({ seed: SEED, gateways: 0, plans: PLANS }, async (simulation) => {
      const { world, gateways } = simulation;
      const gateway = gateways[0]!;
      const key = await testKey(simulation);
      const most = 5 + 10 + refusalsToBan(PLANS);
      const first = await untilBanned(simulation, gateway, key, 120, most);
      await world.pass(first!.retryAfter! * 1_000 + MINUTE);
      await world.settle(
        gateway.send({ operation: 'news', secret: null, address: '192.0.2.9', backend: 1 }),
      );
      await world.pass(20_000);
      expect((await one(simulation, gateway, key)).status).toBe(200);
      const second = await untilBanned(simulation, gateway, key, 120, most);
      expect(second!.retryAfter).toBe(PLANS.escalation!.durations[1]! / 1_000);
    });
  },
);

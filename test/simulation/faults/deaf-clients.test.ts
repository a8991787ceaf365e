import { expect, test } from '@jest/globals';
import { deafClients } from '../../../scripts/docs/deaf-clients.ts';
import { MINUTE, SECOND } from '../../../src/common/time.ts';
import { createKey, deaf } from '../clients.ts';
import type { Answered } from '../gateway/gateway.ts';
import { SHIPPED_PLANS, simulate } from '../simulation.ts';
import { SEED } from './support.ts';

/** Milliseconds: each gateway sends strikes to Redis in batches, and learns of a ban with its own. */
const LATE = 1.5 * SECOND;

/** Milliseconds from the first request of a client to its ban; `null`: none within `duration`. */
function bannedAfter(plan: string, pace: number, duration: number) {
  return simulate({ seed: SEED, gateways: 3 }, async (simulation) => {
    const { world } = simulation;
    const key = await createKey(simulation, plan);
    const begin = world.now;
    let after: number | null = null;
    const answered = ({ code }: Answered) => {
      if (code === 'key_banned') after ??= world.now - begin;
    };
    const gateway = () => world.random.oneOf(simulation.gateways);
    const behaviour = { key, pause: SECOND / pace, backend: 2, gateway, answered };
    const end = begin + duration;
    void deaf(simulation, behaviour, end);
    await world.run(end);
    return after;
  });
}

const ROWS = deafClients(SHIPPED_PLANS).filter(({ window }) => window.span === MINUTE);

/** Other paces, and one gateway with its own state: test/limits/clients.test.ts. */
test.each(ROWS.map((row) => [row.plan, row] as const))(
  'a client of the plan %s that never waits is banned in the documented time, by three gateways on one Redis',
  async (plan, { pace, bannedWithin, fasterWithin }) => {
    // A request that arrives later than it was sent may miss the end of a window.
    expect(await bannedAfter(plan, 1.02 * pace, bannedWithin + LATE)).not.toBeNull();
    expect(await bannedAfter(plan, 2 * pace, fasterWithin + LATE)).not.toBeNull();
    expect(await bannedAfter(plan, 0.95 * pace, 3 * MINUTE)).toBeNull();
  },
);

import { describe, expect, test } from '@jest/globals';
import { HOUR, MINUTE } from '../../src/common/time.ts';
import { remainingIn } from '../../src/limits/admission.ts';
import { createKey, polite } from './clients.ts';
import { burst, one, plansWith, SEED, testKey, windowOf } from './faults/support.ts';
import { type Simulation, simulate } from './simulation.ts';

async function someTraffic(simulation: Simulation): Promise<string[]> {
  const { world, gateways } = simulation;
  const key = await createKey(simulation, 'free');
  const answered: string[] = [];
  const gateway = () => world.random.oneOf(gateways);
  const end = world.now + MINUTE;
  for (let i = 0; i < 5; i++) {
    void polite(
      simulation,
      { key, pause: 300, gateway, answered: (one) => answered.push(JSON.stringify(one)) },
      end,
    );
  }
  await world.run(end);
  return answered;
}

describe('the world', () => {
  test('does the same with the same seed', async () => {
    const runs = [1, 1, 2].map((seed) => () => simulate({ seed, gateways: 2 }, someTraffic));
    const [first, again, other] = [await runs[0]!(), await runs[1]!(), await runs[2]!()];
    expect(first.length).toBeGreaterThan(50);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test('gives each machine its own wall clock, and none to monotonic time', async () => {
    await simulate({ seed: SEED, gateways: 2 }, async ({ world, gateways }) => {
      const [fast, right] = [gateways[0]!, gateways[1]!];
      const read = () =>
        [fast, right].map((each) => each.within(() => [Date.now(), performance.now()] as const));
      const before = read();
      fast.machine.setClock(world.now, HOUR);
      await world.pass(1_000);
      const passed = read().map((clocks, i) =>
        clocks.map((now, j) => Math.round(now - before[i]![j]!)),
      );
      expect(passed).toEqual([
        [HOUR + 1_000, 1_000],
        [1_000, 1_000],
      ]);
    });
  });
});

describe('the disk', () => {
  const LIMIT = 10;

  /**
   * Requests that a key has left after it sent `sent`, the machine failed, and the gateway started
   * again.
   */
  async function leftAfter(fail: (simulation: Simulation) => void, wait: number): Promise<number> {
    return simulate(
      { seed: SEED, gateways: 0, plans: plansWith([windowOf(LIMIT, HOUR)]) },
      async (simulation) => {
        const { world, gateways, disk } = simulation;
        const key = await testKey(simulation);
        disk.syncDelay = 200;
        await burst(simulation, gateways[0]!, key, 4);
        await world.pass(wait);
        fail(simulation);
        await world.settle(gateways[0]!.start());
        return remainingIn(
          (await one(simulation, gateways[0]!, key)).admission!.readings.find(
            ({ window }) => !window.scope,
          )!,
        );
      },
    );
  }

  const kill = ({ gateways }: Simulation) => gateways[0]!.kill();
  const losePower = ({ gateways, disk }: Simulation) => {
    gateways[0]!.kill();
    disk.losePower(gateways[0]!.machine.folder);
  };

  test('keeps what was written when a process is killed', async () => {
    expect(await leftAfter(kill, 600)).toBe(LIMIT - 5);
  });

  test('forgets what was not synced when power is lost', async () => {
    expect(await leftAfter(losePower, 300)).toBe(LIMIT - 1);
    expect(await leftAfter(losePower, 1_000)).toBe(LIMIT - 5);
  });
});

describe('the twin of Redis', () => {
  const LIMIT = 20;

  test('forgets the last writes in a failover', async () => {
    await simulate(
      { seed: SEED, gateways: 1, plans: plansWith([windowOf(LIMIT, HOUR)]) },
      async (simulation) => {
        const { world, gateways, redis } = simulation;
        const key = await testKey(simulation);
        await burst(simulation, gateways[0]!, key, 3);
        await world.pass(1_000);
        await burst(simulation, gateways[0]!, key, 4);
        redis.data.loseWrites(500);
        const { admission } = await one(simulation, gateways[0]!, key);
        expect(remainingIn(admission!.readings.find(({ window }) => !window.scope)!)).toBe(
          LIMIT - 4,
        );
      },
    );
  });
});

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HOUR, MINUTE, SECOND } from '../../src/common/time.ts';
import { openOutbox } from '../../src/records/embedded/outbox.ts';
import type { Outbox } from '../../src/records/outbox.ts';
import { outboxInRedis } from '../../src/records/redis/outbox.ts';
import { createEmbeddedState } from '../../src/state/embedded/counters.ts';
import { disconnect, openConnection } from '../../src/state/redis/client.ts';
import { createRedisState } from '../../src/state/redis/counters.ts';
import type { State } from '../../src/state/state.ts';
import { sequences } from '../state/sequences.ts';
import { TestClock } from '../support/limits.ts';
import { SEED } from './faults/support.ts';
import { REDIS_SETTINGS, simulate } from './simulation.ts';
import { Random } from './world/random.ts';

const RUNS = 40;
const STEPS = 40;

test('the twin of Redis gives the same answers as the rules', async () => {
  await simulate({ seed: SEED, gateways: 1 }, async ({ world, gateways }) => {
    const connection = gateways[0]!.within(() => openConnection(REDIS_SETTINGS));
    await world.pass(100);
    const clock = new TestClock();
    const remote = createRedisState(connection, { clock: clock.read, deadline: 5_000 });
    const memory = createEmbeddedState({ clock: clock.read });
    const verdicts = new Set<unknown>();
    const runs = fc.sample(sequences({ setBack: true }), { seed: SEED, numRuns: RUNS });
    for (const [run, steps] of runs.entries()) {
      for (const { pass, action } of steps) {
        clock.pass(pass);
        const work = (state: State) => action.take(state, `key:${run}`);
        const expected = await work(memory);
        const found = await world.settle(gateways[0]!.within(async () => work(remote)));
        expect(found).toEqual(expected ?? undefined);
        verdicts.add((expected as { verdict?: string } | undefined)?.verdict);
      }
    }
    disconnect(connection);
    expect([...verdicts]).toEqual(expect.arrayContaining(['admitted', 'limited', 'banned']));
  });
});

const TYPES = ['down', 'back', 'quota'];
const NAMES = Array.from({ length: 150 }, (_, i) => `${TYPES[i % 3]} ${i}`);

function eventStepOf(
  random: Random,
  now: number,
  spans: readonly number[],
): (outbox: Outbox) => unknown {
  const type = random.oneOf(TYPES);
  const since = random.oneOf([0, now - MINUTE]);
  const ends = random.oneOf(NAMES);
  const once = { name: random.oneOf(NAMES), since, until: now + random.oneOf(spans), ends };
  const above = random.oneOf([0, 1, 5, 20, 100]);
  const most = random.oneOf([3, 10, 10]);
  const message = { id: `msg_${now}`, type, body: `{"at":${now}}` };
  const mark = random.oneOf([null, 'a', 'b']);
  const next = random.oneOf(['a', 'b']);
  const others: readonly ((outbox: Outbox) => unknown)[] = [
    (outbox) => outbox.read(above, 5),
    (outbox) => outbox.newest(),
    (outbox) => outbox.count(above),
    (outbox) => outbox.mark(type),
    (outbox) => outbox.move(type, mark, next),
  ];
  return random.isOnce(2)
    ? random.oneOf(others)
    : (outbox) => outbox.add({ message, endpoints: [type], once, most, now });
}

test.each([
  ['time passes', [0, 30, 2_000, MINUTE], [MINUTE, HOUR]],
  ['the clock is set back', [0, 30, -SECOND, -HOUR], [30_000 * HOUR]],
])(
  'the twin of Redis has the same events as the embedded outbox while %s',
  async (_, passes, spans) => {
    await simulate({ seed: SEED, gateways: 1 }, async ({ world, gateways }) => {
      const connection = gateways[0]!.within(() => openConnection(REDIS_SETTINGS));
      await world.pass(100);
      const clock = new TestClock();
      const remote = outboxInRedis(connection);
      const memory = openOutbox(null);
      const random = new Random(SEED);
      for (let step = 0; step < RUNS * STEPS; step++) {
        clock.pass(random.oneOf(passes));
        const work = eventStepOf(random, clock.read(), spans);
        const expected = await work(memory);
        expect(await world.settle(gateways[0]!.within(async () => work(remote)))).toEqual(expected);
      }
      expect(await memory.newest()).toBeGreaterThan(100);
      memory.close();
      disconnect(connection);
    });
  },
);

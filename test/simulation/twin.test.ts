import { expect, test } from '@jest/globals';
import { HOUR, MINUTE, SECOND } from '../../src/common/time.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { settlementOf } from '../../src/limits/settlement.ts';
import { openOutbox } from '../../src/records/embedded/outbox.ts';
import type { Outbox } from '../../src/records/outbox.ts';
import { outboxInRedis } from '../../src/records/redis/outbox.ts';
import { createEmbeddedState } from '../../src/state/embedded/counters.ts';
import { disconnect, openConnection } from '../../src/state/redis/client.ts';
import { createRedisState } from '../../src/state/redis/counters.ts';
import type { State } from '../../src/state/state.ts';
import { calendar, limits, scoped, TestClock, window, withExcess } from '../support/limits.ts';
import { SEED } from './faults/support.ts';
import { REDIS_SETTINGS, simulate } from './simulation.ts';
import { Random } from './world/random.ts';

const ESCALATION = {
  strikes: 3,
  window: 10 * SECOND,
  workers: 4,
  minWorkers: 2,
  grace: 100,
  durations: [20 * SECOND, MINUTE, HOUR],
  decay: HOUR,
};
const LIMITS: readonly Limits[] = [
  limits([window(3, MINUTE)], ESCALATION),
  limits([window(5, MINUTE), window(12, HOUR)], ESCALATION),
  limits([window(4, MINUTE, 'sliding'), window(9, HOUR)], ESCALATION),
  limits([window(8, MINUTE), scoped('login', 3, MINUTE)], ESCALATION),
  limits([window(6, 20 * SECOND)], null),
  limits([window(3, MINUTE), calendar(9, HOUR, 'Asia/Kolkata')], ESCALATION),
  limits([withExcess('watch', window(3, MINUTE)), window(9, HOUR)], ESCALATION),
  limits([withExcess('overage', window(3, MINUTE)), window(9, HOUR)], ESCALATION),
];
const RUNS = 40;
const STEPS = 40;
const LOGIN = ['login'];

type Step = (state: State) => unknown;

function stepOf(random: Random, subject: string): Step {
  const chosen = random.oneOf(LIMITS);
  const cost = random.oneOf([1, 1, 1, 2, 5]);
  const scopes = random.isOnce(3) ? LOGIN : [];
  const units = random.oneOf([-1, 1, 5]);
  const others: readonly Step[] = [
    (state) => state.look(subject, chosen),
    (state) => state.strike(subject, chosen),
    (state) => state.banLevel(subject, chosen),
    (state) => state.liftBan(subject),
    (state) => state.reset(subject),
    (state) => state.grant(subject, chosen, cost, null),
    (state) => state.ban(subject, chosen, cost * SECOND),
    async (state) => {
      const admission = await state.admit(subject, chosen, 1, scopes);
      if (admission.verdict === 'admitted')
        await state.settle(subject, chosen, settlementOf(admission, units, scopes));
      return admission;
    },
  ];
  return random.isOnce(6)
    ? random.oneOf(others)
    : (state) => state.admit(subject, chosen, cost, scopes);
}

test('the twin of Redis gives the same answers as the rules', async () => {
  await simulate({ seed: SEED, gateways: 1 }, async ({ world, gateways }) => {
    const connection = gateways[0]!.within(() => openConnection(REDIS_SETTINGS));
    await world.pass(100);
    const clock = new TestClock();
    const remote = createRedisState(connection, { clock: clock.read, deadline: 5_000 });
    const memory = createEmbeddedState({ clock: clock.read });
    const random = new Random(SEED);
    const verdicts = new Set<unknown>();
    for (let run = 0; run < RUNS; run++) {
      for (let step = 0; step < STEPS; step++) {
        clock.pass(random.oneOf([0, 30, 120, 2_000, 20_000, MINUTE, -SECOND, -HOUR]));
        const work = stepOf(random, `key:${run}`);
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

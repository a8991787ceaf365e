import { describe, expect, test } from '@jest/globals';
import { HOUR, MINUTE } from '../../../src/common/time.ts';
import type { Plans } from '../../../src/limits/plans.ts';
import type { Key } from '../clients.ts';
import type { Answered, Gateway } from '../gateway/gateway.ts';
import { type Simulation, simulate } from '../simulation.ts';
import type { Machine } from '../world/machine.ts';
import { faultTest } from './fault-test.ts';
import {
  burst,
  one,
  plansWith,
  refusalsToBan,
  SEED,
  testKey,
  untilBanned,
  windowOf,
} from './support.ts';

/** Longer than a gateway repeats a refusal from memory. */
const MEMORY = 10_000;

const FAULT = 1;
const LIMIT = 5;
const ESCALATED = plansWith([windowOf(LIMIT)]);
const [FIRST_BAN] = ESCALATED.escalation!.durations;

interface Case {
  readonly name: string;
  readonly plans: Plans;
  /** The longest wait in true time, milliseconds. */
  readonly longest: number;
  /** Uses up what the case is about. */
  readonly exhaust: (simulation: Simulation, gateway: Gateway, key: Key) => Promise<unknown>;
  readonly probe: (simulation: Simulation, gateway: Gateway, key: Key) => Promise<Answered>;
}

const usesUp: Case['exhaust'] = (simulation, gateway, key) =>
  burst(simulation, gateway, key, LIMIT + 1);

const limited = { exhaust: usesUp, probe: one };
const unknownKey: Key = { id: '', secret: 'unknown', account: '', plan: '' };
const failures = {
  exhaust: (simulation: Simulation, gateway: Gateway) => burst(simulation, gateway, unknownKey, 61),
  probe: (simulation: Simulation, gateway: Gateway) => one(simulation, gateway, unknownKey),
};

const CASES: readonly Case[] = [
  { name: 'a fixed window', plans: plansWith([windowOf(LIMIT)]), longest: MINUTE, ...limited },
  // A unit of a sliding window counts for a twentieth longer.
  {
    name: 'a sliding window',
    plans: plansWith([windowOf(LIMIT, MINUTE, 'sliding')]),
    longest: 1.05 * MINUTE,
    ...limited,
  },
  {
    name: 'a ban',
    plans: ESCALATED,
    longest: FIRST_BAN!,
    exhaust: (simulation, gateway, key) =>
      untilBanned(simulation, gateway, key, 120, LIMIT + 10 + refusalsToBan(ESCALATED)),
    probe: one,
  },
];

const FAILURES: Case = {
  name: 'failed attempts of an address',
  plans: ESCALATED,
  longest: MINUTE,
  ...failures,
};

/** What a client gets after the clock of `machine` was an hour fast and is corrected. */
async function afterCorrection(
  simulation: Simulation,
  machine: Machine,
  one: Case,
  isRestarted: boolean,
) {
  const { world, gateways } = simulation;
  const gateway = gateways[0]!;
  const key = await testKey(simulation);
  machine.setClock(world.now, HOUR);
  await one.exhaust(simulation, gateway, key);
  machine.setClock(world.now, 0);
  if (isRestarted) {
    await world.pass(2_000);
    gateway.kill();
    await world.settle(gateway.start());
  }
  // Refusals from memory do not reach the state, which begins what lies in the future when it is
  // next asked.
  await world.pass(MEMORY);
  const { status, retryAfter } = await one.probe(simulation, gateway, key);
  await world.pass(one.longest + 2_000);
  const later = await one.probe(simulation, gateway, key);
  return { status, retryAfter: retryAfter ?? 0, later: later.status };
}

describe('no client waits longer than its window after a clock was set back', () => {
  for (const each of [...CASES, FAILURES]) {
    const run =
      each === FAILURES
        ? (name: string, work: () => Promise<void>) => faultTest(FAULT, name, work)
        : test;
    run(`of a gateway that counts ${each.name}`, async () => {
      await simulate({ seed: SEED, gateways: 0, plans: each.plans }, async (simulation) => {
        const machine = simulation.gateways[0]!.machine;
        const found = await afterCorrection(simulation, machine, each, false);
        expect(found.retryAfter).toBeLessThanOrEqual(Math.ceil(each.longest / 1_000) + 1);
        expect(found.later).toBe(each === FAILURES ? 401 : 200);
      });
    });
  }

  for (const each of CASES) {
    test(`of a gateway that reads ${each.name} at its start`, async () => {
      await simulate({ seed: SEED, gateways: 0, plans: each.plans }, async (simulation) => {
        const machine = simulation.gateways[0]!.machine;
        const found = await afterCorrection(simulation, machine, each, true);
        expect(found.retryAfter).toBeLessThanOrEqual(Math.ceil(each.longest / 1_000) + 1);
        expect(found.later).toBe(200);
      });
    });

    test(`of a Redis that counts ${each.name}`, async () => {
      await simulate({ seed: SEED, gateways: 2, plans: each.plans }, async (simulation) => {
        const found = await afterCorrection(
          simulation,
          simulation.redis.process.machine,
          each,
          false,
        );
        expect(found.retryAfter).toBeLessThanOrEqual(Math.ceil(each.longest / 1_000) + 1);
        expect(found.later).toBe(200);
      });
    });
  }

  faultTest(FAULT, 'by a Redis that gets the counts of an outage', async () => {
    const plans = plansWith([windowOf(LIMIT)]);
    await simulate({ seed: SEED, gateways: 1, plans }, async (simulation) => {
      const { world, network, redis, gateways } = simulation;
      const gateway = gateways[0]!;
      const key = await testKey(simulation);
      await one(simulation, gateway, key);
      // No response teaches the gateway the new time before the outage.
      redis.process.machine.setClock(world.now, -HOUR);
      await world.pass(2 * MINUTE);
      network.change('g1', { isCut: true });
      await burst(simulation, gateway, key, LIMIT + 1);
      network.change('g1', { isCut: false });
      await world.pass(5_000);
      const { retryAfter } = await one(simulation, gateway, key);
      expect(retryAfter ?? 0).toBeLessThanOrEqual(MINUTE / 1_000 + 1);
    });
  });
});

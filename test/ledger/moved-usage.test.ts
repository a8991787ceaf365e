import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createCoverageSum } from '../../src/ledger/coverage.ts';
import {
  addUpUsage,
  addUsage,
  gapUntil,
  isPending,
  usageIn,
} from '../../src/ledger/moved-usage.ts';
import { createPendingExports } from '../../src/ledger/pending-exports.ts';
import { createRollup } from '../../src/ledger/rollup.ts';
import { createUsageWriter } from '../../src/ledger/writer.ts';
import type { RequestTrace } from '../../src/observe/events.ts';
import { usageFault } from '../../src/records/transfer/usage-check.ts';
import { MemoryUsage, readerOf, UsageCounter, usageIn as usageOf } from '../support/ledger.ts';
import { DAY, HOUR, MINUTE, SECOND, TestClock } from '../support/limits.ts';
import { requestEvent } from '../support/request-event.ts';

const BEGIN = Date.UTC(2026, 0, 1, 12);
const KEPT = { hours: 35 * DAY, days: 400 * DAY, maxBytes: 1 << 30 };
const bug = (error: unknown) => {
  throw new Error(String(error));
};

type Step =
  | { readonly do: 'send'; readonly key: number; readonly cost: number }
  | { readonly do: 'write' }
  | { readonly do: 'roll'; readonly isAccepted: boolean }
  | { readonly do: 'pass'; readonly time: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('send' as const), key: fc.nat(2), cost: fc.nat(9) }),
  fc.record({ do: fc.constant('write' as const) }),
  fc.record({ do: fc.constant('roll' as const), isAccepted: fc.boolean() }),
  fc.record({
    do: fc.constant('pass' as const),
    time: fc.constantFrom(SECOND, 20 * SECOND, MINUTE, 50 * MINUTE, 3 * HOUR, DAY),
  }),
);

/** A minute waits for its export, and the next one has parts only. */
const WAITING: Step[] = [
  { do: 'send', key: 0, cost: 5 },
  { do: 'pass', time: 3 * HOUR },
  { do: 'write' },
  { do: 'roll', isAccepted: false },
  { do: 'send', key: 1, cost: 7 },
  { do: 'write' },
];

/** A gateway, what it exported, and the turns in which it adds up and exports. */
function gatewayOn(store: MemoryUsage, clock: TestClock, process: string) {
  const receiver = new UsageCounter();
  const exports = createPendingExports({ store, sendUsage: receiver.accept, damaged: bug });
  const writer = createUsageWriter({ process, clock: clock.read, failed: bug });
  writer.begin(store, null);
  const rollup = createRollup({ store, retention: () => KEPT, damaged: bug, exports });
  return { receiver, writer, roll: () => rollup.run(clock.now) };
}

async function move(from: MemoryUsage, { isCopy, now }: { isCopy: boolean; now: number }) {
  const to = new MemoryUsage();
  for await (const values of usageIn(from)) {
    for (const one of values) expect(usageFault(one)).toBeNull();
    await addUsage(to, isCopy ? values.filter((one) => !isPending(one)) : values);
  }
  if (isCopy) {
    await addUsage(to, [gapUntil(now)]);
    await addUpUsage(to, now);
  }
  return to;
}

test('a move has each request once, and exports once what its source has not; a copy exports nothing', async () => {
  const steps = fc.array(step, { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), async (all, isCopy) => {
      const clock = new TestClock(BEGIN);
      const source = new MemoryUsage();
      const before = gatewayOn(source, clock, 'before#1');
      const sent = new Map<string, { units: number; requests: number }>();
      const send = async ({ writer }: typeof before, key: number, cost: number) => {
        const keyId = `key_${key}`;
        const trace = { admission: null, subject: null, cost, received: 0, sent: 0 };
        writer.recorder.observe(requestEvent({ keyId, trace: trace as unknown as RequestTrace }));
        const { units, requests } = sent.get(keyId) ?? { units: 0, requests: 0 };
        sent.set(keyId, { units: units + cost, requests: requests + 1 });
      };
      for (const one of all) {
        if (one.do === 'send') await send(before, one.key, one.cost);
        else if (one.do === 'write') await before.writer.flush();
        else if (one.do === 'pass') clock.pass(one.time);
        else {
          before.receiver.fails = one.isAccepted ? 'no' : 'before';
          await before.roll();
        }
      }
      before.receiver.fails = 'no';
      if (isCopy) await before.writer.flush();
      else await before.writer.close();
      const target = await move(source, { isCopy, now: clock.now });
      const moved = new Map(sent);
      const exported = new Map(before.receiver.sums);

      const after = gatewayOn(target, clock, 'after#1');
      const always = { from: BEGIN - DAY, to: clock.now + 3 * DAY };
      for (let rolled = 0; rolled < 3; rolled++) {
        for (const grain of ['hour', 'day'] as const)
          expect(await usageOf(readerOf(target), always, grain)).toEqual(moved);
        clock.pass(DAY);
        for (const { writer } of isCopy ? [before, after] : [after]) await writer.flush();
        clock.pass(11 * SECOND);
        for (const { writer } of isCopy ? [before, after] : [after]) await writer.flush();
        expect(await after.roll()).toMatchObject({ pendingSince: null });
        await before.roll();
      }
      if (isCopy) {
        expect(before.receiver.sums).toEqual(sent);
        expect(after.receiver.sums.size).toBe(0);
      } else expect(sumOf(exported, after.receiver.sums)).toEqual(sent);
      await before.writer.close();
      await after.writer.close();
    }),
    { numRuns: 100, examples: [true, false].map((isCopy) => [WAITING, isCopy]) },
  );
});

test('a copy is complete in reports from its end on, a move from its begin', async () => {
  for (const isCopy of [true, false]) {
    const clock = new TestClock(BEGIN);
    const source = new MemoryUsage();
    const { writer } = gatewayOn(source, clock, 'before#1');
    writer.recorder.observe(requestEvent());
    await writer.close();
    clock.pass(HOUR);
    const target = await move(source, { isCopy, now: clock.now });
    const coverage = createCoverageSum();
    const reader = readerOf(target);
    const period = { from: BEGIN, to: clock.now + MINUTE };
    for await (const value of reader.values(period, 'day')) coverage.add(value);
    const since = isCopy ? BEGIN + HOUR : BEGIN;
    expect(coverage.result(BEGIN, await reader.since(), clock.now)).toEqual({
      since,
      running: [],
      lost: [],
      dropped: 0,
    });
  }
});

type Sums = ReadonlyMap<string | null, { readonly units: number; readonly requests: number }>;

function sumOf(one: Sums, other: Sums) {
  const sum = new Map(one);
  for (const [key, { units, requests }] of other) {
    const existing = sum.get(key) ?? { units: 0, requests: 0 };
    sum.set(key, { units: existing.units + units, requests: existing.requests + requests });
  }
  return sum;
}

import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { createCoverageSum } from '../../src/ledger/coverage.ts';
import { accessTo, createLedger } from '../../src/ledger/ledger.ts';
import { sumIn } from '../../src/ledger/names.ts';
import { createPendingExports } from '../../src/ledger/pending-exports.ts';
import { readLedger } from '../../src/ledger/read.ts';
import { createUsageReader } from '../../src/ledger/reader.ts';
import { createRecorder, type OpenMinute } from '../../src/ledger/recorder.ts';
import { createRollup } from '../../src/ledger/rollup.ts';
import { NotSaved } from '../../src/ledger/store.ts';
import { addTraffic } from '../../src/ledger/traffic.ts';
import { packRows, unpackRows } from '../../src/ledger/usage-table.ts';
import { createUsageWriter } from '../../src/ledger/writer.ts';
import type { Event, RequestTrace } from '../../src/observe/events.ts';
import { NotPacked } from '../../src/observe/traffic/packing.ts';
import { COLUMNS, requestsIn } from '../../src/observe/traffic/row.ts';
import { MemoryUsage, readerOf, type Sums, UsageCounter, usageIn } from '../support/ledger.ts';
import { DAY, HOUR, MINUTE, SECOND, TestClock } from '../support/limits.ts';
import { requestEvent } from '../support/request-event.ts';
import { until } from '../support/until.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const KEPT = { hours: 35 * DAY, days: 400 * DAY, maxBytes: 1 << 30 };
const bug = (error: unknown) => {
  throw new Error(String(error));
};

const trace = (cost: number, received = 0, sent = 0) =>
  ({ admission: null, subject: null, cost, received, sent }) as unknown as RequestTrace;

function processOf(name: string, clock: TestClock, store: MemoryUsage) {
  const failed: unknown[] = [];
  const writer = createUsageWriter({
    process: `${name}#1`,
    clock: clock.read,
    failed: (error) => void failed.push(error),
  });
  return {
    writer,
    failed,
    begin: () => writer.begin(store, null),
    send: (keyId: string, cost = 1, more: Parameters<typeof requestEvent>[0] = {}) =>
      writer.recorder.observe(requestEvent({ keyId, trace: trace(cost), ...more })),
  };
}
type Process = ReturnType<typeof processOf>;

const rollupOf = (store: MemoryUsage, kept = KEPT) =>
  createRollup({ store, retention: () => kept, damaged: bug });

/** Stores everything, so that sums may take what ended before. */
async function settle(processes: readonly Process[], clock: TestClock) {
  for (const { writer } of processes) await writer.flush();
  clock.pass(11 * SECOND);
  for (const { writer } of processes) await writer.flush();
}

/** Passes time in which the process runs: it stores something in each step. */
async function live(
  one: Process,
  rollup: ReturnType<typeof createRollup>,
  clock: TestClock,
  steps: number,
  step = DAY,
) {
  let report = null;
  for (let i = 0; i < steps; i++) {
    clock.pass(step - 11 * SECOND);
    await settle([one], clock);
    report = await rollup.run(clock.now);
  }
  return report;
}

function exporting(store: MemoryUsage, kept = KEPT) {
  const receiver = new UsageCounter();
  const exports = createPendingExports({ store, sendUsage: receiver.accept, damaged: bug });
  const rollup = createRollup({ store, retention: () => kept, damaged: bug, exports });
  return { receiver, rollup };
}

/** What a clock is ahead, in milliseconds. */
const OFFSETS = [0, HOUR, -HOUR, 36 * DAY, -36 * DAY, 401 * DAY, -401 * DAY];

const always = (clock: TestClock, ahead = 0) => ({
  from: NOON - ahead - DAY,
  to: clock.now + ahead + 2 * DAY,
});

const how = fc.constantFrom('no' as const, 'before' as const, 'after' as const);
const STEPS = [
  fc.record({
    do: fc.constant('send' as const),
    process: fc.nat(2),
    key: fc.nat(3),
    cost: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({ do: fc.constant('write' as const), process: fc.nat(2) }),
  fc.record({ do: fc.constant('fail' as const), how }),
  fc.record({ do: fc.constant('roll' as const), how, after: fc.nat(3) }),
  fc.record({
    do: fc.constant('pass' as const),
    time: fc.constantFrom(SECOND, 20 * SECOND, MINUTE, 50 * MINUTE, 3 * HOUR, DAY),
  }),
] as const;
type Step = typeof STEPS extends readonly fc.Arbitrary<infer One>[] ? One : never;

/** Three processes on one store, and what they were sent. `roll`: adds up by the clock of one of them. */
function fleetOn(
  store: MemoryUsage,
  clock: TestClock,
  roll: (process: number) => Promise<unknown>,
  clocks: readonly TestClock[] = [clock, clock, clock],
) {
  const processes = clocks.map((own, i) => processOf(`p${i}`, own, store));
  for (const { begin } of processes) begin();
  const sent: Sums = new Map();
  return {
    processes,
    sent,
    async do(one: Step): Promise<void> {
      if (one.do === 'send') {
        const key = `key_${one.key}`;
        processes[one.process]!.send(key, one.cost);
        const { units, requests } = sent.get(key) ?? { units: 0, requests: 0 };
        sent.set(key, { units: units + one.cost, requests: requests + 1 });
      } else if (one.do === 'write') await processes[one.process]!.writer.flush().catch(() => {});
      else if (one.do === 'fail') store.fails = one.how;
      else if (one.do === 'pass') clock.pass(one.time);
      else {
        store.commitFails = one.how;
        store.commitsBefore = one.after;
        await roll(one.after % 3).catch(() => {});
        store.commitFails = 'no';
      }
    },
    async close(): Promise<void> {
      for (const { writer } of processes) await writer.close();
    },
  };
}

describe('a writer of usage', () => {
  test('plans a write for what was counted, and looks seldom if nothing was', async () => {
    jest.useFakeTimers();
    const clock = new TestClock(NOON);
    const store = new MemoryUsage();
    const one = processOf('a', clock, store);
    one.begin();
    let puts = 0;
    const put = store.put.bind(store);
    store.put = (parts) => {
      puts++;
      return put(parts);
    };
    try {
      await jest.advanceTimersByTimeAsync(4_000);
      const asIdle = puts;
      expect(jest.getTimerCount()).toBe(1);
      for (let i = 0; i < 9; i++) one.send('key_1');
      expect(jest.getTimerCount()).toBe(2);
      await jest.advanceTimersByTimeAsync(800);
      expect(jest.getTimerCount()).toBe(1);
      jest.useRealTimers();
      await until('the count is stored', () => puts > asIdle);
      expect(puts).toBe(asIdle + 1);
    } finally {
      await one.writer.close();
      jest.useRealTimers();
    }
  });
});

describe('the ledger', () => {
  test('has and exports each request once, in any order of writes, failures, crashes, clocks, retries and roll-ups', async () => {
    const step = fc.oneof(
      ...STEPS,
      fc.record({ do: fc.constant('receive' as const), how }),
      fc.record({ do: fc.constant('set clock' as const), offset: fc.constantFrom(...OFFSETS) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = new TestClock(NOON);
        const store = new MemoryUsage(clock.read);
        const { receiver, rollup } = exporting(store);
        const fleet = fleetOn(store, clock, () => rollup.run(clock.now));
        const { processes, sent } = fleet;
        let offset = 0;
        const setClock = (ahead: number) => {
          clock.pass(ahead - offset);
          offset = ahead;
        };
        try {
          for (const one of steps)
            if (one.do === 'receive') receiver.fails = one.how;
            else if (one.do === 'set clock') setClock(one.offset);
            else await fleet.do(one);
          store.fails = 'no';
          receiver.fails = 'no';
          setClock(0);
          for (const { writer } of processes) await writer.flush();
          const reader = readerOf(store);
          for (let rolled = 0; rolled < 3; rolled++) {
            for (const grain of ['hour', 'day'] as const)
              expect(await usageIn(reader, always(clock, 402 * DAY), grain)).toEqual(sent);
            clock.pass(DAY);
            await settle(processes, clock);
            expect(await rollup.run(clock.now)).toMatchObject({ pendingSince: null });
            expect(receiver.sums).toEqual(sent);
          }
        } finally {
          await fleet.close();
        }
      }),
      { numRuns: 400 },
    );
  });

  test('has each request once after failovers that lose less than ten seconds', async () => {
    const failover = fc.record({ do: fc.constant('failover' as const) });
    const steps = fc.array(fc.oneof(...STEPS, failover), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const clock = new TestClock(NOON);
        const store = new MemoryUsage();
        const rollup = rollupOf(store);
        const fleet = fleetOn(store, clock, () => rollup.run(clock.now));
        /** What replicas have had, oldest first. */
        let copies = [{ at: clock.now, content: store.copy() }];
        for (const one of all) {
          if (one.do !== 'failover') await fleet.do(one);
          else {
            const old = clock.now - 9 * SECOND;
            const kept = copies.findLast(({ at }) => at <= old) ?? copies[0]!;
            store.content = kept.content;
            copies = copies.filter(({ at }) => at <= kept.at);
          }
          copies.push({ at: clock.now, content: store.copy() });
        }
        store.fails = 'no';
        for (let rolled = 0; rolled < 3; rolled++) {
          await settle(fleet.processes, clock);
          expect(await usageIn(readerOf(store), always(clock, DAY))).toEqual(fleet.sent);
          clock.pass(DAY);
          await rollup.run(clock.now);
        }
        await fleet.close();
      }),
      { numRuns: 400 },
    );
  });

  test('takes no minute of an outage before it is stored for the last time', async () => {
    const clock = new TestClock(NOON);
    const store = new MemoryUsage();
    const one = processOf('a', clock, store);
    one.begin();
    const rollup = rollupOf(store);
    store.fails = 'before';
    for (let minute = 0; minute < 3; minute++) {
      one.send('key_1');
      clock.pass(MINUTE);
      await one.writer.flush().catch(() => {});
    }
    store.fails = 'no';
    await one.writer.flush();
    await rollup.run(clock.now);
    expect(store.sums.size).toBe(0);
    await settle([one], clock);
    await rollup.run(clock.now);
    expect(store.sums.size).toBe(3);
    const found = await usageIn(readerOf(store), always(clock));
    expect(found.get('key_1')).toEqual({ units: 3, requests: 3 });
    await one.writer.close();
  });

  test('has each request once although the clocks of gateways differ', async () => {
    const ahead = fc.constantFrom(0, HOUR, -HOUR, 36 * DAY, -36 * DAY);
    const jump = fc.record({ do: fc.constant('jump' as const), process: fc.nat(2), ahead });
    const [send, write, , roll, pass] = STEPS;
    const steps = fc.array(fc.oneof(send, write, roll, pass, jump), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const clock = new TestClock(NOON);
        const store = new MemoryUsage();
        const offsets = [0, 0, 0];
        const clocks = offsets.map(
          (_, i) => ({ read: () => clock.now + offsets[i]! }) as TestClock,
        );
        const rollup = rollupOf(store);
        const addUp = async (given: number) => {
          store.time = clock.now;
          await rollup.run(given);
        };
        const fleet = fleetOn(store, clock, (i) => addUp(clocks[i]!.read()), clocks);
        for (const one of all)
          if (one.do === 'jump') offsets[one.process] = one.ahead;
          else await fleet.do(one);
        for (let rolled = 0; rolled < 3; rolled++) {
          await settle(fleet.processes, clock);
          for (const grain of ['hour', 'day'] as const)
            expect(await usageIn(readerOf(store), always(clock, 37 * DAY), grain)).toEqual(
              fleet.sent,
            );
          clock.pass(DAY);
          await addUp(clock.now);
        }
        await fleet.close();
      }),
      { numRuns: 400 },
    );
  });

  test('reads each request once while another gateway adds up', async () => {
    const clock = new TestClock(NOON);
    const store = new MemoryUsage();
    const one = processOf('a', clock, store);
    one.begin();
    const rollup = rollupOf(store);
    for (let minute = 0; minute < 6 * 60; minute++) {
      one.send('key_1');
      await one.writer.flush();
      clock.pass(MINUTE);
    }
    await settle([one], clock);
    const source = {
      ...{ index: () => store.index() },
      async read(names: readonly string[]) {
        await rollup.run(clock.now);
        return await store.read(names);
      },
    };
    for (const grain of ['hour', 'day'] as const) {
      clock.pass(DAY);
      const found = await usageIn(readerOf(source), always(clock), grain);
      expect(found.get('key_1')).toEqual({ units: 360, requests: 360 });
    }
    await one.writer.close();
  });

  test('takes the minutes of a killed process after a day in which others ran, and refuses them from then on', async () => {
    const clock = new TestClock(NOON);
    const store = new MemoryUsage(clock.read);
    const one = processOf('a', clock, store);
    one.begin();
    one.send('key_1');
    await one.writer.flush();
    const { receiver, rollup } = exporting(store);
    const running = processOf('b', clock, store);
    running.begin();
    await live(running, rollup, clock, 23, HOUR);
    expect(receiver.sums.size).toBe(0);
    await live(running, rollup, clock, 4, HOUR);
    expect(receiver.sums.get('key_1')).toEqual({ units: 1, requests: 1 });
    // It was only asleep, and had counted another one.
    const now = clock.now;
    clock.now = NOON;
    one.send('key_1');
    clock.now = now;
    await one.writer.flush();
    await running.writer.close();
    const found = await usageIn(readerOf(store), always(clock));
    expect(found.get('key_1')).toEqual({ units: 1, requests: 1 });
    expect(one.writer.dropped).toBe(1);
    await one.writer.close();
  });

  const isDown = ({ writer }: Process) => expect(writer.flush()).rejects.toThrow('down');
  type End = (process: Process, store: MemoryUsage, clock: TestClock) => Promise<void>;
  test.each<[how: string, end: End]>([
    ['is killed while the store is down', isDown],
    ['stops while the store is down', ({ writer }) => writer.close()],
    [
      'stops soon after that',
      async (process, store, clock) => {
        await isDown(process);
        clock.pass(MINUTE);
        store.fails = 'no';
        await process.writer.close();
      },
    ],
    [
      'stops after that, and does not learn that it was stored',
      async (process, store) => {
        await isDown(process);
        store.fails = 'after';
        await process.writer.close();
      },
    ],
  ])('counts once what a process has left that %s', async (_, end) => {
    const clock = new TestClock(NOON);
    const [store, spool] = [new MemoryUsage(clock.read), new MemoryUsage(clock.read)];
    const first = processOf('a', clock, store);
    first.writer.begin(store, spool);
    first.send('key_1');
    await first.writer.flush();
    first.send('key_1');
    store.fails = 'before';
    await end(first, store, clock);
    const next = processOf('b', clock, store);
    store.fails = 'no';
    clock.pass(MINUTE);
    const { receiver, rollup } = exporting(store);
    await rollup.run(clock.now);
    next.writer.begin(store, spool);
    // A sum may take only what the next process does not store again.
    for (let times = 0; times < 4; times++) {
      await next.writer.flush();
      await rollup.run(clock.now);
      clock.pass(11 * SECOND);
    }
    expect(receiver.sums.get('key_1')).toEqual({ units: 2, requests: 2 });
    const found = await usageIn(readerOf(store), always(clock));
    expect(found.get('key_1')).toEqual({ units: 2, requests: 2 });
    await next.writer.close();
    expect(spool.content.parts.size).toBe(0);
  });

  test('keeps what the receiver does not accept as long as hours, and counts what is removed', async () => {
    const clock = new TestClock(NOON);
    const store = new MemoryUsage();
    const one = processOf('a', clock, store);
    one.begin();
    const { receiver, rollup } = exporting(store);
    receiver.fails = 'before';
    one.send('key_1');
    await one.writer.flush();
    expect(await live(one, rollup, clock, 35)).toMatchObject({ unexported: 0, pendingSince: NOON });
    expect(await live(one, rollup, clock, 1)).toMatchObject({ unexported: 1 });
    receiver.fails = 'no';
    await rollup.run(clock.now);
    expect(receiver.sums.size).toBe(0);
    await one.writer.close();
  });

  test('has traffic by minute for two days, and usage by hour and day', async () => {
    const clock = new TestClock(NOON);
    const store = new MemoryUsage();
    const one = processOf('a', clock, store);
    one.begin();
    const rollup = rollupOf(store);
    for (let minute = 0; minute < 3 * 60; minute++) {
      one.send('key_1');
      await one.writer.flush();
      clock.pass(MINUTE);
      await rollup.run(clock.now);
    }
    await settle([one], clock);
    const starts = async (grain: 'traffic' | 'hour' | 'day') => {
      const found = new Map<number, number>();
      const span = { traffic: MINUTE, hour: HOUR, day: DAY }[grain];
      for await (const value of readerOf(store).values(always(clock), grain)) {
        let requests = 0;
        if (grain === 'traffic') {
          const row = new Float64Array(COLUMNS);
          addTraffic(row, value.read('traffic'), {});
          requests = requestsIn(row);
        } else
          for (const rows of value.usage())
            unpackRows(rows, () => ({ units }) => {
              requests += units;
            });
        const start = Math.floor(value.start / span) * span;
        found.set(start, (found.get(start) ?? 0) + requests);
      }
      return [...found.values()].filter((requests) => requests > 0);
    };
    const all = async () => [await starts('traffic'), await starts('hour'), await starts('day')];
    const expected = [Array(180).fill(1), [60, 60, 60], [180]];
    expect(await all()).toEqual(expected);
    clock.pass(DAY - MINUTE);
    await rollup.run(clock.now);
    expect(await all()).toEqual(expected);
    const ofFirstDay = () =>
      [...store.sums.keys()].filter((name) => sumIn(name)!.start < NOON + 3 * HOUR);
    await live(one, rollup, clock, 4);
    expect(
      ofFirstDay()
        .map((name) => name[0])
        .sort(),
    ).toEqual(['d', 'h', 'h', 'h']);
    await live(one, rollup, clock, 36);
    expect(ofFirstDay().map((name) => name[0])).toEqual(['d']);
    await one.writer.close();
  });

  test('removes hours that a day contains, then the oldest days, if it is too large', async () => {
    const clock = new TestClock(NOON);
    const store = new MemoryUsage();
    const one = processOf('a', clock, store);
    one.begin();
    for (let day = 0; day < 4; day++) {
      for (let key = 0; key < 200; key++) one.send(`key_${key}`);
      await live(one, rollupOf(store), clock, 1);
    }
    await live(one, rollupOf(store), clock, 1, 5 * HOUR);
    const sizeOf = (fits: (kind: string, start: number) => boolean) =>
      [...store.sums].reduce((sum, [name, { length }]) => {
        const { kind, start } = sumIn(name)!;
        return sum + (fits(kind, start) ? length : 0);
      }, 0);
    const lastDay =
      Math.max(...[...store.sums.keys()].map((name) => sumIn(name)!.start)) - 5 * HOUR;
    const days = sizeOf((kind) => kind === 'd');
    const needed = sizeOf((kind, start) => 'mh'.includes(kind) && start >= lastDay);
    expect(days).toBeGreaterThan(0);
    const units = async () =>
      (await usageIn(readerOf(store), always(clock))).get('key_7')?.units ?? 0;
    await rollupOf(store, { ...KEPT, maxBytes: days + needed }).run(clock.now);
    expect(await units()).toBe(4);
    const report = await rollupOf(store, { ...KEPT, maxBytes: days + needed - 1 }).run(clock.now);
    expect(report!.dropped).toBe(1);
    expect(await units()).toBe(3);
    await one.writer.close();
  });

  test('removes nothing because a clock jumps, that of a gateway or of the store', async () => {
    const kept = { hours: 3 * DAY, days: 5 * DAY, maxBytes: 1 << 30 };
    const jumps = [36 * DAY, 401 * DAY, 1_200 * DAY].flatMap((jump) => [jump, -jump]);
    const named = (name: string) => ({ ...sumIn(name)!, name });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...jumps), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 8 }),
        fc.boolean(),
        async (jumped, lived, storeJumps) => {
          const clock = new TestClock(NOON);
          const store = new MemoryUsage();
          const one = processOf('a', clock, store);
          one.begin();
          const { receiver, rollup } = exporting(store, kept);
          await live(one, rollup, clock, lived);
          const before = [...store.sums.keys()].map(named);
          for (const jump of jumped) {
            clock.pass(jump);
            store.time = storeJumps ? null : clock.now - jump;
            one.send('key_1');
            await one.writer.flush();
            await rollup.run(clock.now);
            clock.pass(MINUTE - jump);
            store.time = null;
          }
          await settle([one], clock);
          // The days of a store whose clock has jumped count like others.
          const age = (days: number) => clock.now - (days - (storeJumps ? jumped.length : 0)) * DAY;
          const held = before.filter(
            ({ kind, start }) => kind === 'd' || (kind === 'h' && start > age(3)),
          );
          const starts = new Set([...store.sums.keys()].map((name) => name.split('-')[0]));
          const gone = held.filter(({ name }) => !starts.has(name.split('-')[0]));
          expect(gone.filter(({ start }) => start > age(5))).toEqual([]);
          await rollup.run(clock.now);
          const all = { units: jumped.length, requests: jumped.length };
          expect(receiver.sums.get('key_1')).toEqual(all);
          if (lived + jumped.length < 5 && !storeJumps) {
            const period = { from: NOON - 1_202 * DAY, to: NOON + 1_210 * DAY };
            expect((await usageIn(readerOf(store), period)).get('key_1')).toEqual(all);
          }
          await one.writer.close();
        },
      ),
      { numRuns: 30 },
    );
  });

  test('reports what it removes because of its age', async () => {
    const clock = new TestClock(NOON);
    const events: Event[] = [];
    const ledger = createLedger({ clock: clock.read, observe: (event) => events.push(event) });
    const usage = { hours: 2 * DAY, days: 4 * DAY, maxBytes: 1 << 30 };
    ledger.use({ usage, plans: { plans: new Map() } } as unknown as Parameters<
      typeof ledger.use
    >[0]);
    ledger.begin({ ledger: new MemoryUsage() });
    for (let day = 0; day < 8; day++) {
      await ledger.writer.flush();
      clock.pass(20 * SECOND);
      await ledger.writer.flush();
      await ledger.roll();
      clock.pass(DAY);
    }
    const removed = events.filter(({ type }) => type === 'usage.expired');
    expect(removed[0]).toMatchObject({ hours: 1, days: 0, before: '2026-01-01T13:00:00.000Z' });
    expect(removed.at(-1)).toMatchObject({ hours: 1, days: 1 });
    await ledger.close();
  });

  test('changes nothing without the turn', async () => {
    const clock = new TestClock(NOON);
    const store = new MemoryUsage();
    const one = processOf('a', clock, store);
    one.begin();
    one.send('key_1');
    await one.writer.flush();
    clock.pass(HOUR);
    await settle([one], clock);
    store.hasTurn = false;
    const before = store.copy();
    expect(await rollupOf(store).run(clock.now)).toBeNull();
    expect(store.content).toEqual(before);
    await one.writer.close();
  });
});

test('a full disk hides nothing that was counted, before it and since', async () => {
  const clock = new TestClock(NOON);
  const store = new MemoryUsage();
  store.mayLose = 0;
  const one = processOf('one', clock, store);
  one.begin();
  const access = accessTo(store, one.writer, bug);
  const requests = async () => {
    const { source, isolated } = await readLedger(access, {
      now: clock.now,
      from: NOON,
      values: (reader) => reader.values(always(clock), 'day'),
      each: async () => {},
    });
    expect(isolated).toBeNull();
    const found = [...(await usageIn(source, always(clock))).values()];
    return found.reduce((sum, { requests }) => sum + requests, 0);
  };
  one.send('key_1');
  one.send('key_2');
  expect(await requests()).toBe(2);
  const put = store.put.bind(store);
  store.put = () => Promise.reject(new NotSaved('the disk is full'));
  one.send('key_1');
  expect(await requests()).toBe(3);
  clock.pass(MINUTE);
  one.send('key_3');
  expect(await requests()).toBe(4);
  store.put = put;
  expect(await requests()).toBe(4);
  await one.writer.close();
});

describe('an answer names', () => {
  async function coverageOf(store: MemoryUsage, clock: TestClock, damages: string[] = []) {
    const reader = createUsageReader(store, (damage) => void damages.push(damage));
    const sum = createCoverageSum();
    for await (const value of reader.values(always(clock), 'hour')) sum.add(value);
    return sum.result(NOON - DAY, await reader.since(), clock.now);
  }

  test('processes that run, and those that ended without a stop', async () => {
    const clock = new TestClock(NOON + 5);
    const store = new MemoryUsage();
    const all = ['a', 'b', 'c'].map((name) => processOf(name, clock, store));
    const [stopped, lost, running] = all as [Process, Process, Process];
    for (const one of all) {
      one.begin();
      one.send('key_1');
      await one.writer.flush();
    }
    for (let i = 0; i < 3; i++) lost.send('key_1');
    await lost.writer.flush();
    await stopped.writer.close();
    clock.pass(MINUTE);
    running.send('key_1');
    await running.writer.flush();
    const before = {
      since: NOON + 5 + 11 * SECOND,
      lost: [{ process: 'b', at: NOON + 5, most: 4 }],
    };
    const now = await coverageOf(store, clock);
    expect(now).toMatchObject({ ...before, running: [{ process: 'c', since: NOON + 5 }] });
    clock.pass(2 * DAY);
    await rollupOf(store).run(clock.now);
    const gone = { process: 'c', at: NOON + 5 + MINUTE, most: 1 };
    expect(await coverageOf(store, clock)).toMatchObject({
      since: gone.at + 11 * SECOND,
      lost: [...before.lost, gone],
      running: [],
    });
    for (const one of [lost, running]) await one.writer.close();
  });

  test('a damaged sum, also after it was added up', async () => {
    const clock = new TestClock(NOON);
    const store = new MemoryUsage();
    const one = processOf('a', clock, store);
    one.begin();
    one.send('key_1');
    await one.writer.close();
    clock.pass(2 * MINUTE);
    await rollupOf(store).run(clock.now);
    const [name, bytes] = [...store.sums][0]!;
    bytes[bytes.length - 1]! ^= 1;
    const damages: string[] = [];
    expect(await coverageOf(store, clock, damages)).toMatchObject({
      since: NOON + MINUTE,
      dropped: 1,
    });
    expect(damages).toEqual([`the usage ${name} is damaged: its checksum differs`]);
    store.content.sums.delete(name);
    store.content.sums.set(name.replace(/-.*/, '-00000000'), bytes);
    clock.pass(2 * DAY);
    await createRollup({ store, retention: () => KEPT, damaged: () => {} }).run(clock.now);
    expect(await coverageOf(store, clock)).toMatchObject({ dropped: 1 });
  });

  test('requests that could not wait for the store any longer', async () => {
    const clock = new TestClock(NOON);
    const store = new MemoryUsage();
    const one = processOf('a', clock, store);
    one.begin();
    store.fails = 'before';
    let sent = 0;
    for (let minute = 0; minute < 10; minute++) {
      for (let i = 0; i < 5_000; i++) one.send(`key_${sent++}_${'x'.repeat(400)}`);
      clock.pass(MINUTE);
      await one.writer.flush().catch(() => {});
    }
    store.fails = 'no';
    one.send('key_1');
    await one.writer.flush();
    const { dropped } = await coverageOf(store, clock);
    const stored = [...(await usageIn(readerOf(store), always(clock))).values()];
    expect(dropped).toBeGreaterThan(0);
    expect(one.writer.dropped).toBe(dropped);
    expect(stored.reduce((sum, { requests }) => sum + requests, dropped)).toBe(sent + 1);
    await one.writer.close();
  });
});

describe('a minute', () => {
  function recording() {
    const clock = new TestClock(NOON);
    const ended: OpenMinute[] = [];
    const recorder = createRecorder(clock.read, (minute) => void ended.push(minute));
    return { clock, ended, recorder };
  }

  test('has units of admitted requests, bytes, durations and outcomes by key and operation', () => {
    const { recorder } = recording();
    const about = { operation: 'a', trace: trace(5, 10, 100) };
    recorder.observe(requestEvent({ ...about, duration: 5 }));
    recorder.observe(requestEvent({ ...about, duration: 5_000, nearLimit: true }));
    recorder.observe(
      requestEvent({
        ...about,
        status: 429,
        code: 'rate_limit_exceeded',
        verdict: 'limited',
        unheeding: true,
      }),
    );
    recorder.observe(requestEvent({ ...about, plan: 'pro' }));
    recorder.observe(
      requestEvent({ ...about, keyId: null, account: null, plan: null, verdict: null }),
    );
    const rows: unknown[] = [];
    unpackRows(packRows(recorder.minute.usage), ({ clients, operations, outcomes }) => (row) => {
      const { requests, marked, units, received, sent } = row;
      const { key, plan } = clients[row.client]!;
      const { status } = outcomes[row.outcome]!;
      const counts = [...Array.from(requests), marked, units, received, sent];
      rows.push([key, plan, operations[row.operation], status, ...counts]);
    });
    expect(rows).toEqual([
      ['key_1', 'free', 'a', 200, 1, 0, 0, 1, 0, 1, 10, 20, 200],
      ['key_1', 'free', 'a', 429, 1, 0, 0, 0, 0, 1, 0, 10, 100],
      ['key_1', 'pro', 'a', 200, 1, 0, 0, 0, 0, 0, 5, 10, 100],
      [null, null, 'a', 200, 1, 0, 0, 0, 0, 0, 0, 10, 100],
    ]);
  });

  test('ends by the clock, also if the clock is set back', () => {
    const { clock, recorder, ended } = recording();
    recorder.observe(requestEvent());
    clock.pass(MINUTE);
    recorder.observe(requestEvent());
    clock.pass(-HOUR);
    for (let i = 0; i < 10_000; i++) recorder.observe(requestEvent({ keyId: `key_${i}` }));
    expect(
      [...ended, recorder.minute].map(({ start, figures, usage }) => [
        (start - NOON) / MINUTE,
        figures.requests,
        usage.size,
      ]),
    ).toEqual([
      [0, 1, 1],
      [1, 1, 1],
      [-59, 10_000, 10_000],
    ]);
    expect(recorder.total.slice(3, 4)).toEqual(new Float64Array([10_002]));
  });

  test('has the requests of the last minute, with the one before', () => {
    const { clock, recorder } = recording();
    const event = (status: number, verdict: string | null = 'admitted') =>
      recorder.observe(requestEvent({ status, verdict: verdict as 'admitted' }));
    for (const status of [200, 500, 501, 503, 505]) event(status);
    event(429, 'limited');
    event(403, 'banned');
    const all = { requests: 7, failed: 2, refused: 2 };
    expect(recorder.recent).toEqual(all);
    clock.pass(MINUTE);
    expect(recorder.recent).toEqual(all);
    clock.pass(30 * SECOND);
    event(200);
    expect(recorder.recent).toEqual({ requests: 1 + 4, failed: 1, refused: 1 });
    clock.pass(30 * SECOND);
    expect(recorder.recent).toEqual({ requests: 1, failed: 0, refused: 0 });
    clock.pass(5 * MINUTE);
    expect(recorder.recent).toEqual({ requests: 0, failed: 0, refused: 0 });
    clock.pass(-HOUR);
    expect(recorder.recent).toEqual({ requests: 0, failed: 0, refused: 0 });
  });

  test('is stored in the parts that have changed', async () => {
    const clock = new TestClock(NOON);
    const store = new MemoryUsage();
    const one = processOf('a', clock, store);
    one.begin();
    for (let i = 0; i < 1_000; i++) one.send(`key_${i}`);
    await one.writer.flush();
    const first = store.copy().parts;
    one.send('key_1');
    await one.writer.flush();
    const changed = [...store.content.parts].filter(
      ([name, { bytes }]) => !first.get(name)?.bytes.equals(bytes),
    );
    // Of its head and four parts of rows.
    expect([first.size, changed.map(([name]) => name.split('/')[2])]).toEqual([6, ['3', '0']]);
    await one.writer.close();
  });

  test('is never more than it says, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          unpackRows(bytes, () => () => {});
        } catch (error) {
          expect(
            error instanceof NotPacked ||
              error instanceof SyntaxError ||
              error instanceof TypeError,
          ).toBe(true);
        }
      }),
    );
  });

  test('of a newer format is reported, not read', async () => {
    const clock = new TestClock(NOON);
    const store = new MemoryUsage();
    const one = processOf('a', clock, store);
    one.begin();
    one.send('key_1');
    await one.writer.close();
    for (const { bytes } of store.content.parts.values()) bytes[0] = 99;
    const damages: string[] = [];
    const reader = createUsageReader(store, (damage) => void damages.push(damage));
    expect(await usageIn(reader, always(clock))).toEqual(new Map());
    expect(damages[0]).toMatch(/^the usage \S+ is damaged: its format is 99$/);
  });
});

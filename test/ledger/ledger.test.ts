import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { packBlock } from '../../src/ledger/block.ts';
import { CoverageSum } from '../../src/ledger/coverage.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { blockIn, blockName, sliceName } from '../../src/ledger/names.ts';
import { createPendingExports } from '../../src/ledger/pending-exports.ts';
import { createLedgerReader } from '../../src/ledger/reader.ts';
import { createRecorder } from '../../src/ledger/recorder.ts';
import { createRollup } from '../../src/ledger/rollup.ts';
import { addTraffic } from '../../src/ledger/traffic.ts';
import { unpackUsage } from '../../src/ledger/usage-table.ts';
import { createLedgerWriter } from '../../src/ledger/writer.ts';
import type { Event, RequestTrace } from '../../src/observe/events.ts';
import { NotPacked } from '../../src/observe/traffic/packing.ts';
import { COLUMNS, requestsIn } from '../../src/observe/traffic/row.ts';
import { MemoryLedger, readerOf, UsageCounter, usageIn } from '../support/ledger.ts';
import { DAY, HOUR, MINUTE, SECOND, TestClock } from '../support/limits.ts';
import { requestEvent } from '../support/request-event.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const KEPT = { hours: 35 * DAY, days: 400 * DAY, maxBytes: 1 << 30 };
const bug = (error: unknown) => {
  throw new Error(String(error));
};

const trace = (cost: number, received = 0, sent = 0) =>
  ({ admission: null, subject: null, cost, received, sent }) as unknown as RequestTrace;

function processOf(name: string, clock: TestClock, backend: MemoryLedger) {
  const failed: unknown[] = [];
  const writer = createLedgerWriter({
    process: `${name}#1`,
    clock: clock.read,
    failed: (error) => void failed.push(error),
  });
  return {
    writer,
    failed,
    begin: () => writer.begin(backend, null),
    send: (keyId: string, cost = 1, more: Parameters<typeof requestEvent>[0] = {}) =>
      writer.recorder.observe(requestEvent({ keyId, trace: trace(cost), ...more })),
  };
}

const rollupOf = (backend: MemoryLedger, kept = KEPT) => createRollup(backend, () => kept, bug);

/** Passes time in which the process runs: it stores something in each step. */
async function live(
  { writer }: ReturnType<typeof processOf>,
  rollup: ReturnType<typeof createRollup>,
  clock: TestClock,
  steps: number,
  step = DAY,
) {
  let report = null;
  for (let i = 0; i < steps; i++) {
    clock.pass(step);
    await writer.flush();
    report = await rollup.run(clock.now);
  }
  return report;
}

function exporting(backend: MemoryLedger, kept = KEPT) {
  const receiver = new UsageCounter();
  const exports = createPendingExports({
    store: backend,
    sendUsage: receiver.accept,
    damaged: bug,
  });
  return { receiver, rollup: createRollup(backend, () => kept, bug, exports) };
}

/** What a clock is ahead, in milliseconds. */
const OFFSETS = [0, HOUR, -HOUR, 36 * DAY, -36 * DAY, 401 * DAY, -401 * DAY];

const always = (clock: TestClock, ahead = 0) => ({
  from: NOON - ahead - DAY,
  to: clock.now + ahead + 2 * DAY,
});

describe('the ledger', () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant('send' as const),
      process: fc.nat(2),
      key: fc.nat(3),
      cost: fc.integer({ min: 1, max: 9 }),
    }),
    fc.record({ do: fc.constant('write' as const), process: fc.nat(2) }),
    fc.record({
      do: fc.constant('fail' as const),
      how: fc.constantFrom('no' as const, 'before' as const, 'after' as const),
    }),
    fc.record({
      do: fc.constant('roll' as const),
      completes: fc.boolean(),
      stores: fc.constantFrom(0, 1, 2, Number.POSITIVE_INFINITY),
    }),
    fc.record({
      do: fc.constant('receive' as const),
      how: fc.constantFrom('no' as const, 'before' as const, 'after' as const),
    }),
    fc.record({
      do: fc.constant('pass' as const),
      time: fc.constantFrom(SECOND, 20 * SECOND, MINUTE, 50 * MINUTE, 3 * HOUR, DAY),
    }),
    fc.record({ do: fc.constant('set clock' as const), offset: fc.constantFrom(...OFFSETS) }),
  );

  test('has and exports each request once, in any order of writes, failures, crashes, clocks, retries and roll-ups', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = new TestClock(NOON);
        const backend = new MemoryLedger();
        const processes = ['a', 'b', 'c'].map((name) => processOf(name, clock, backend));
        for (const { begin } of processes) begin();
        const { receiver, rollup } = exporting(backend);
        const sent = new Map<string, { units: number; requests: number }>();
        let offset = 0;
        const setClock = (ahead: number) => {
          clock.pass(ahead - offset);
          offset = ahead;
        };
        try {
          for (const one of steps) {
            if (one.do === 'send') {
              const key = `key_${one.key}`;
              processes[one.process]!.send(key, one.cost);
              const { units, requests } = sent.get(key) ?? { units: 0, requests: 0 };
              sent.set(key, { units: units + one.cost, requests: requests + 1 });
            } else if (one.do === 'write')
              await processes[one.process]!.writer.flush().catch(() => {});
            else if (one.do === 'fail') backend.fails = one.how;
            else if (one.do === 'receive') receiver.fails = one.how;
            else if (one.do === 'pass') clock.pass(one.time);
            else if (one.do === 'set clock') setClock(one.offset);
            else {
              // Without it, slices stay although blocks contain them, as after a crash.
              backend.forgets = one.completes;
              backend.storesBeforeCrash = one.stores;
              await rollup.run(clock.now).catch(() => {});
              backend.forgets = true;
              backend.storesBeforeCrash = Number.POSITIVE_INFINITY;
            }
          }
          backend.fails = 'no';
          receiver.fails = 'no';
          setClock(0);
          for (const { writer } of processes) await writer.flush();
          const reader = readerOf(backend);
          for (let rolled = 0; rolled < 3; rolled++) {
            for (const grain of ['hour', 'day'] as const)
              expect(await usageIn(reader, always(clock, 402 * DAY), grain)).toEqual(sent);
            clock.pass(DAY);
            expect(await rollup.run(clock.now)).toMatchObject({ pendingSince: null });
            expect(receiver.sums).toEqual(sent);
          }
        } finally {
          for (const { writer } of processes) await writer.close();
        }
      }),
      { numRuns: 60 },
    );
  });

  test('exports a slice once that came after a crash between an export and its minute', async () => {
    const clock = new TestClock(NOON);
    const backend = new MemoryLedger();
    const [one, late] = ['a', 'b'].map((name) => processOf(name, clock, backend));
    for (const { begin, send } of [one!, late!]) {
      begin();
      send('key_1');
    }
    await one!.writer.flush();
    clock.pass(2 * MINUTE);
    const { receiver, rollup } = exporting(backend);
    backend.storesBeforeCrash = 1;
    await expect(rollup.run(clock.now)).rejects.toThrow('killed');
    backend.storesBeforeCrash = Number.POSITIVE_INFINITY;
    await late!.writer.flush();
    await rollup.run(clock.now);
    expect(receiver.sums.get('key_1')).toEqual({ units: 2, requests: 2 });
    for (const { writer } of [one!, late!]) await writer.close();
  });

  test('keeps what the receiver does not accept as long as hours, and counts what is removed', async () => {
    const clock = new TestClock(NOON);
    const backend = new MemoryLedger();
    const one = processOf('a', clock, backend);
    one.begin();
    const { receiver, rollup } = exporting(backend);
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
    const backend = new MemoryLedger();
    const one = processOf('a', clock, backend);
    one.begin();
    const rollup = rollupOf(backend);
    for (let minute = 0; minute < 3 * 60; minute++) {
      one.send('key_1');
      await one.writer.flush();
      clock.pass(MINUTE);
      await rollup.run(clock.now);
    }
    const starts = async (grain: 'traffic' | 'hour' | 'day') => {
      const found = new Map<number, number>();
      for await (const block of readerOf(backend).blocks(always(clock), grain)) {
        const row = new Float64Array(COLUMNS);
        addTraffic(row, await block.read('traffic'), {});
        found.set(block.start, (found.get(block.start) ?? 0) + requestsIn(row));
      }
      // An idle writer stores slices without requests, by the machine's clock.
      return [...found.values()].filter((requests) => requests > 0);
    };
    expect(await starts('traffic')).toEqual(Array(180).fill(1));
    clock.pass(DAY);
    await rollup.run(clock.now);
    expect(await starts('hour')).toEqual([60, 60, 60]);
    expect(await starts('day')).toEqual([180]);
    const ofFirstDay = () =>
      [...backend.blocks.keys()].filter((name) => blockIn(name)!.start < NOON + 3 * HOUR);
    await live(one, rollup, clock, 4);
    expect(
      ofFirstDay()
        .map((name) => name[0])
        .sort(),
    ).toEqual(['d', 'h', 'h', 'h']);
    await live(one, rollup, clock, 36);
    expect(ofFirstDay()).toEqual([blockName('d', NOON - 12 * HOUR)]);
    await one.writer.close();
  });

  test('removes hours that a day contains, then the oldest days, if it is too large', async () => {
    const clock = new TestClock(NOON);
    const backend = new MemoryLedger();
    const one = processOf('a', clock, backend);
    one.begin();
    for (let day = 0; day < 4; day++) {
      for (let key = 0; key < 200; key++) one.send(`key_${key}`);
      await one.writer.flush();
      clock.pass(DAY);
      await rollupOf(backend).run(clock.now);
    }
    const size = (kind: string) =>
      [...backend.blocks].reduce(
        (sum, [name, { length }]) => sum + (name[0] === kind ? length : 0),
        0,
      );
    await live(one, rollupOf(backend), clock, 4, HOUR);
    const needed = ['m', 'h'].flatMap((kind) =>
      [...backend.blocks].filter(
        ([name]) => name[0] === kind && blockIn(name)!.start > NOON + 4 * DAY - 12 * HOUR,
      ),
    );
    const days = size('d') + needed.reduce((sum, [, { length }]) => sum + length, 0);
    const report = await rollupOf(backend, { ...KEPT, maxBytes: days }).run(clock.now);
    expect(report).toMatchObject({ bytes: days });
    expect((await usageIn(readerOf(backend), always(clock))).get('key_7')).toEqual({
      units: 4,
      requests: 4,
    });
    await rollupOf(backend, { ...KEPT, maxBytes: days - 1 }).run(clock.now);
    expect((await usageIn(readerOf(backend), always(clock))).get('key_7')!.units).toBe(3);
    await one.writer.close();
  });

  test('removes nothing because a clock jumps, that of a gateway or of the store', async () => {
    const kept = { hours: 3 * DAY, days: 5 * DAY, maxBytes: 1 << 30 };
    const jumps = [36 * DAY, 401 * DAY, 1_200 * DAY].flatMap((jump) => [jump, -jump]);
    const named = (name: string) => ({ ...blockIn(name)!, name });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...jumps), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 8 }),
        fc.boolean(),
        async (jumped, lived, storeJumps) => {
          const clock = new TestClock(NOON);
          const backend = new MemoryLedger();
          const one = processOf('a', clock, backend);
          one.begin();
          const { receiver, rollup } = exporting(backend, kept);
          await live(one, rollup, clock, lived);
          const before = [...backend.blocks.keys()].map(named);
          for (const jump of jumped) {
            clock.pass(jump);
            backend.time = storeJumps ? null : clock.now - jump;
            one.send('key_1');
            await one.writer.flush();
            await rollup.run(clock.now);
            clock.pass(MINUTE - jump);
            backend.time = null;
          }
          // The days of a store whose clock has jumped count like others.
          const age = (days: number) => clock.now - (days - (storeJumps ? jumped.length : 0)) * DAY;
          const held = before.filter(
            ({ kind, start }) => kind === 'd' || (kind === 'h' && start > age(3)),
          );
          const gone = held.filter(({ name }) => !backend.blocks.has(name));
          expect(gone.filter(({ start }) => start > age(5))).toEqual([]);
          await rollup.run(clock.now);
          const all = { units: jumped.length, requests: jumped.length };
          expect(receiver.sums.get('key_1')).toEqual(all);
          if (lived + jumped.length < 5 && !storeJumps) {
            const period = { from: NOON - 1_202 * DAY, to: NOON + 1_210 * DAY };
            expect((await usageIn(readerOf(backend), period)).get('key_1')).toEqual(all);
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
    ledger.begin({ ledger: new MemoryLedger() });
    for (let day = 0; day < 7; day++) {
      await ledger.writer.flush();
      await ledger.roll();
      clock.pass(DAY);
    }
    const removed = events.filter(({ type }) => type === 'usage.expired');
    expect(removed[0]).toMatchObject({ hours: 1, days: 0, before: '2026-01-01T13:00:00.000Z' });
    expect(removed.at(-1)).toMatchObject({ hours: 2, days: 1 });
    await ledger.close();
  });

  test('changes nothing without the turn', async () => {
    const clock = new TestClock(NOON);
    const backend = new MemoryLedger();
    const one = processOf('a', clock, backend);
    one.begin();
    one.send('key_1');
    await one.writer.flush();
    clock.pass(HOUR);
    backend.hasTurn = false;
    expect(await rollupOf(backend).run(clock.now)).toBeNull();
    expect([backend.blocks.size, backend.all.size]).toEqual([0, 1]);
    await one.writer.close();
  });
});

describe('an answer names', () => {
  async function coverageOf(backend: MemoryLedger, clock: TestClock, damages: string[] = []) {
    const reader = createLedgerReader(backend, (damage) => void damages.push(damage));
    const sum = new CoverageSum();
    for await (const block of reader.blocks(always(clock), 'hour')) sum.add(block);
    return sum.result(NOON - DAY, await reader.since(), clock.now);
  }

  test('processes that run, and those that ended without a stop', async () => {
    const clock = new TestClock(NOON + 5);
    const backend = new MemoryLedger();
    const [stopped, lost, running] = ['a', 'b', 'c'].map((name) => processOf(name, clock, backend));
    for (const one of [stopped!, lost!, running!]) {
      one.begin();
      one.send('key_1');
      await one.writer.flush();
    }
    for (let i = 0; i < 3; i++) lost!.send('key_1');
    await lost!.writer.flush();
    await stopped!.writer.close();
    clock.pass(MINUTE);
    running!.send('key_1');
    await running!.writer.flush();
    const before = {
      since: NOON + 5 + 11 * SECOND,
      lost: [{ process: 'b', at: NOON + 5, most: 4 }],
    };
    const now = await coverageOf(backend, clock);
    expect(now).toMatchObject({ ...before, running: [{ process: 'c', since: NOON + 5 }] });
    clock.pass(2 * DAY);
    await rollupOf(backend).run(clock.now);
    const gone = { process: 'c', at: NOON + 5 + MINUTE, most: 1 };
    expect(await coverageOf(backend, clock)).toMatchObject({
      since: gone.at + 11 * SECOND,
      lost: [...before.lost, gone],
      running: [],
    });
    for (const one of [lost!, running!]) await one.writer.close();
  });

  test('a damaged block, also after it was added up', async () => {
    const clock = new TestClock(NOON);
    const backend = new MemoryLedger();
    const one = processOf('a', clock, backend);
    one.begin();
    one.send('key_1');
    await one.writer.close();
    clock.pass(2 * MINUTE);
    await rollupOf(backend).run(clock.now);
    const [name, bytes] = [...backend.blocks][0]!;
    bytes[bytes.length - 1]! ^= 1;
    const damages: string[] = [];
    expect(await coverageOf(backend, clock, damages)).toMatchObject({
      since: NOON + MINUTE,
      dropped: 1,
    });
    expect(damages).toEqual([`the usage block ${name} is damaged: its checksum differs`]);
    clock.pass(2 * DAY);
    await createRollup(
      backend,
      () => KEPT,
      () => {},
    ).run(clock.now);
    expect(await coverageOf(backend, clock)).toMatchObject({ dropped: 1 });
  });

  test('requests that could not wait for the backend any longer', async () => {
    const clock = new TestClock(NOON);
    const backend = new MemoryLedger();
    const one = processOf('a', clock, backend);
    one.begin();
    backend.fails = 'before';
    // Each slice has as many rows as fit.
    const sent = 400_000;
    for (let i = 0; i < sent; i++) one.send(`key_${i}_${'x'.repeat(40)}`);
    await one.writer.flush().catch(() => {});
    backend.fails = 'no';
    await one.writer.flush();
    one.send('key_1');
    await one.writer.flush();
    const { dropped } = await coverageOf(backend, clock);
    const stored = [...(await usageIn(readerOf(backend), always(clock))).values()];
    expect(dropped).toBeGreaterThan(0);
    expect(stored.reduce((sum, { requests }) => sum + requests, dropped)).toBe(sent + 1);
    await one.writer.close();
  });
});

describe('a slice', () => {
  function recording() {
    const clock = new TestClock(NOON);
    const taken: Parameters<Parameters<typeof createRecorder>[1]>[0][] = [];
    return {
      clock,
      taken,
      recorder: createRecorder(clock.read, (counts) => void taken.push(counts)),
    };
  }

  test('has units of admitted requests, bytes, durations and outcomes by key and operation', () => {
    const { recorder, taken } = recording();
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
    recorder.take();
    const rows: unknown[] = [];
    const reading = unpackUsage(taken[0]!.usage, ({ clients, operations, outcomes }) => (row) => {
      const { requests, marked, units, received, sent } = row;
      const { key, plan } = clients[row.client]!;
      const { status } = outcomes[row.outcome]!;
      const counts = [...Array.from(requests), marked, units, received, sent];
      rows.push([key, plan, operations[row.operation], status, ...counts]);
    });
    for (const _ of reading);
    expect(rows).toEqual([
      ['key_1', 'free', 'a', 200, 1, 0, 0, 1, 0, 1, 10, 20, 200],
      ['key_1', 'free', 'a', 429, 1, 0, 0, 0, 0, 1, 0, 10, 100],
      ['key_1', 'pro', 'a', 200, 1, 0, 0, 0, 0, 0, 5, 10, 100],
      [null, null, 'a', 200, 1, 0, 0, 0, 0, 0, 0, 10, 100],
    ]);
  });

  test('ends with its minute, also if the clock is set back, and when it is full', () => {
    const { clock, recorder, taken } = recording();
    recorder.observe(requestEvent());
    clock.pass(MINUTE);
    recorder.observe(requestEvent());
    clock.pass(-HOUR);
    for (let i = 0; i < 10_000; i++) recorder.observe(requestEvent({ keyId: `key_${i}` }));
    recorder.take();
    expect(taken.map(({ minute, requests }) => [(minute - NOON) / MINUTE, requests])).toEqual([
      [0, 1],
      [1, 1],
      [-59, 4_096],
      [-59, 4_096],
      [-59, 10_000 - 8_192],
    ]);
    expect(recorder.total.slice(3, 4)).toEqual(new Float64Array([10_002]));
  });

  test('is never more than it says, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          for (const _ of unpackUsage(bytes, () => () => {}));
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
    const backend = new MemoryLedger();
    const empty = Buffer.of();
    const head = { start: NOON, span: MINUTE, policies: 0, sources: {} };
    const bytes = packBlock(head, { traffic: empty, usage: empty, uses: empty });
    bytes[0] = 99;
    const name = sliceName({ minute: NOON, process: 'a#1', number: 1 });
    backend.all.set(name, bytes);
    const damages: string[] = [];
    const reader = createLedgerReader(backend, (damage) => void damages.push(damage));
    for await (const block of reader.blocks({ from: NOON, to: NOON + HOUR }, 'hour'))
      expect(await block.read('usage')).toHaveLength(0);
    expect(damages).toEqual([`the usage block ${name} is damaged: its format is 99`]);
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MINUTE } from '../../../src/common/time.ts';
import { History } from '../../../src/observe/history/history.ts';
import {
  ALL,
  operationRow,
  packMinute,
  planRow,
  unpackMinute,
} from '../../../src/observe/history/minute.ts';
import { addPacked, NotPacked, packRow, Unpacking } from '../../../src/observe/history/packing.ts';
import {
  MOST_OPERATIONS,
  MOST_PLANS,
  OTHER,
  Recorder,
} from '../../../src/observe/history/recorder.ts';
import {
  COLUMNS,
  classesIn,
  requestsIn,
  statusesIn,
  verdictsIn,
} from '../../../src/observe/history/row.ts';
import { DAY, HOUR, TestClock } from '../../support/limits.ts';
import { requestEvent } from '../../support/request-event.ts';

const NOON = Date.UTC(2026, 0, 1, 12);

function recording(history = new History()) {
  const clock = new TestClock(NOON);
  const recorder = new Recorder(clock.read, (minute) => void history.add(minute));
  const read = (name = ALL, step = MINUTE, from = 0) =>
    history.read(name, { from, to: Number.MAX_SAFE_INTEGER, step });
  return { clock, recorder, history, read };
}

describe('a row', () => {
  test.each([
    [{ status: 200 }, '2xx'],
    [{ status: 101 }, '2xx'],
    [{ status: 304, verdict: 'admitted' }, '3xx'],
    [{ status: 429, verdict: 'limited' }, '4xx'],
    [{ status: 403, verdict: 'banned' }, '4xx'],
    [{ status: 418, verdict: null }, '4xx'],
    [{ status: 599 }, '5xx'],
    [{ status: 499 }, 'aborted'],
  ] as const)('counts %j as %s', async (event, ofClass) => {
    const { recorder, read } = recording();
    recorder.observe(requestEvent(event));
    recorder.close();
    const { row } = (await read())[0]!;
    expect(requestsIn(row)).toBe(1);
    expect(Object.entries(classesIn(row)).filter(([, count]) => count > 0)).toEqual([[ofClass, 1]]);
    const verdict = 'verdict' in event ? event.verdict : 'admitted';
    expect(Object.entries(verdictsIn(row)).filter(([, count]) => count > 0)).toEqual(
      verdict ? [[verdict, 1]] : [],
    );
    expect(Object.entries(statusesIn(row)).filter(([, count]) => count > 0)).toEqual(
      [403, 429].includes(event.status) ? [[String(event.status), 1]] : [],
    );
  });

  test('is packed without loss', () => {
    const row = fc.array(fc.oneof(fc.constant(0), fc.nat(3), fc.maxSafeNat()), { maxLength: 200 });
    fc.assert(
      fc.property(row, (row) => {
        const sum = new Float64Array(row.length);
        addPacked(sum, packRow(row));
        expect([...sum]).toEqual(row);
      }),
    );
  });

  test('is never more than its columns, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        for (const read of [
          () => addPacked(new Float64Array(COLUMNS), bytes),
          () => void unpackMinute(bytes),
        ]) {
          try {
            read();
          } catch (error) {
            expect(error).toBeInstanceOf(NotPacked);
          }
        }
      }),
    );
    expect(() => new Unpacking(Buffer.alloc(20, 0xff)).number()).toThrow(NotPacked);
  });
});

describe('a minute', () => {
  test('has a total row, and one for each operation and for each plan', async () => {
    const { recorder, read } = recording();
    recorder.observe(requestEvent({ operation: 'listPets', plan: 'free' }));
    recorder.observe(requestEvent({ operation: 'listPets', plan: 'pro' }));
    recorder.observe(requestEvent({ operation: 'none', plan: null }));
    recorder.close();
    const requests = async (name?: string) => requestsIn((await read(name))[0]!.row);
    expect(await requests()).toBe(3);
    expect(await requests(operationRow('listPets'))).toBe(2);
    expect(await requests(operationRow('none'))).toBe(1);
    expect(await requests(planRow('pro'))).toBe(1);
    expect(await requests(planRow('listPets'))).toBe(0);
  });

  test('ends with the first read after it, also if nothing happened in it', async () => {
    const { clock, recorder, read } = recording();
    recorder.turn();
    expect(await read()).toEqual([]);
    clock.pass(MINUTE);
    recorder.turn();
    expect(await read()).toMatchObject([{ start: NOON, minutes: 1 }]);
    recorder.observe(requestEvent());
    clock.pass(MINUTE - 1);
    recorder.turn();
    expect(await read()).toHaveLength(1);
    clock.pass(1);
    recorder.observe(requestEvent());
    expect((await read()).map(({ start, row }) => [start, requestsIn(row)])).toEqual([
      [NOON, 0],
      [NOON + MINUTE, 1],
    ]);
  });

  test('names the outage policy in use, until the state is up', async () => {
    const { clock, recorder, read } = recording();
    const next = () => clock.pass(MINUTE);
    next();
    recorder.observe({ type: 'state.outage', policy: 'allow', error: null });
    next();
    recorder.observe({ type: 'state.recovered', duration: 1 });
    next();
    recorder.observe({ type: 'state.outage', policy: 'local', error: null });
    recorder.observe({ type: 'state.recovered', duration: 1 });
    next();
    recorder.turn();
    expect((await read()).map(({ policies }) => policies)).toEqual([0, 4, 4, 1]);
  });

  test('returns each outage from its first to its last minute', () => {
    const { clock, recorder, history } = recording();
    const outages: [begin: number, minutes: number][] = [
      [9, 2],
      [14, 1],
      [600, 3],
    ];
    for (const [begin, minutes] of outages) {
      clock.now = NOON + begin * MINUTE;
      recorder.observe({ type: 'state.outage', policy: 'local', error: null });
      for (let i = 1; i < minutes; i++) {
        clock.pass(MINUTE);
        recorder.turn();
      }
      recorder.observe({ type: 'state.recovered', duration: 1 });
      clock.pass(MINUTE);
      recorder.turn();
    }
    const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
    const inMinutes = (time: number) => (time - NOON) / MINUTE;
    const found = history
      .outages(all)
      .map(({ begin, end }) => [inMinutes(begin), inMinutes(end) - inMinutes(begin)]);
    expect(found).toEqual(outages);
    expect(history.outages({ ...all, from: NOON + HOUR })).toMatchObject([{ policies: 1 }]);
  });

  test('has a limited number of rows, however many operations there are, and misses no request', async () => {
    const { recorder, read, history } = recording();
    for (let i = 0; i < 5_000; i++)
      recorder.observe(requestEvent({ operation: `op${i}`, plan: `plan${i}` }));
    recorder.close();
    expect(unpackMinute(history.minutes.get(NOON)!).rows.size).toBe(
      1 + MOST_OPERATIONS + 1 + MOST_PLANS + 1,
    );
    expect(requestsIn((await read(operationRow(OTHER)))[0]!.row)).toBe(5_000 - MOST_OPERATIONS);
    expect(requestsIn((await read(planRow(OTHER)))[0]!.row)).toBe(5_000 - MOST_PLANS);
  });
});

describe('a history', () => {
  const minute = (start: number, counts: Readonly<Record<string, number>>, policies = 0) =>
    packMinute({
      start,
      policies,
      rows: new Map(Object.entries(counts).map(([name, count]) => [name, rowOf(count)])),
    });
  const rowOf = (count: number) => new Uint32Array(COLUMNS).fill(count, 3, 4);

  test('merges one minute of several processes', async () => {
    const history = new History();
    history.add(minute(NOON, { [ALL]: 2, 'o a': 2 }, 1));
    history.add(minute(NOON, { [ALL]: 3, 'o b': 3 }, 2));
    expect(history.minutes.size).toBe(1);
    const all = async (name: string) => {
      const [span] = await history.read(name, { from: NOON, to: NOON + 1, step: MINUTE });
      return [span!.minutes, span!.policies, requestsIn(span!.row)];
    };
    expect([await all(ALL), await all('o a'), await all('o b')]).toEqual([
      [1, 3, 5],
      [1, 3, 2],
      [1, 3, 3],
    ]);
  });

  test('is read in steps, from the oldest on', async () => {
    const history = new History();
    for (const at of [3, 1, 65, 62, 0]) history.add(minute(NOON + at * MINUTE, { [ALL]: 1 }));
    const read = await history.read(ALL, {
      from: NOON + MINUTE,
      to: NOON + 65 * MINUTE,
      step: HOUR,
    });
    expect(read.map(({ start, minutes, row }) => [start, minutes, requestsIn(row)])).toEqual([
      [NOON, 2, 2],
      [NOON + HOUR, 1, 1],
    ]);
  });

  test('keeps only the memory of its minutes', () => {
    const history = new History();
    for (let i = 0; i < 3; i++) history.add(minute(NOON, { [ALL]: 1 }));
    const kept = history.minutes.get(NOON)!;
    expect(kept.buffer.byteLength).toBe(kept.length);
  });

  test('covers a day', () => {
    const history = new History();
    for (let i = 0; i < 1_500; i++) history.add(minute(NOON + i * MINUTE, { [ALL]: 1 }));
    expect(history.minutes.size).toBe(1_440);
    expect(Math.min(...history.minutes.keys())).toBe(NOON + 60 * MINUTE);
  });

  test('refuses an invalid minute, and stays unchanged', () => {
    const history = new History();
    history.add(minute(NOON, { [ALL]: 1 }));
    const before = history.bytes;
    for (const bytes of [
      Buffer.from('nothing'),
      minute(NOON, { [ALL]: 1 }).subarray(0, -1),
      Buffer.alloc(0),
    ])
      expect(() => history.add(bytes)).toThrow(NotPacked);
    expect([history.minutes.size, history.bytes]).toEqual([1, before]);
  });

  test('stays within its budget: the oldest minutes lose operations and plans, and keep the total', async () => {
    const budget = 100_000;
    const { clock, recorder, history, read } = recording(new History(budget));
    for (let at = 0; at < DAY / MINUTE; at += 10) {
      for (let i = 0; i < 300; i++)
        recorder.observe(
          requestEvent({ operation: `operation${i}`, duration: 1.3 ** (i % 40), status: 200 + i }),
        );
      clock.pass(MINUTE);
      recorder.turn();
      expect(history.bytes).toBeLessThanOrEqual(budget);
    }
    expect(history.minutes.size).toBe(144);
    const counts = async (name: string) => (await read(name)).map(({ row }) => requestsIn(row));
    expect(await counts(ALL)).toEqual(Array(144).fill(300));
    const apart = await counts(operationRow('operation7'));
    expect([apart[0], apart.at(-1)]).toEqual([0, 1]);
  });
});

test('counts an operation and a plan with the name of the overflow row', async () => {
  const { recorder, read } = recording();
  const names = Array.from({ length: MOST_OPERATIONS + 5 }, (_, i) => `o${i}`);
  for (const name of [OTHER, ...names])
    recorder.observe(requestEvent({ operation: name, plan: name }));
  recorder.close();
  expect(requestsIn((await read(operationRow(OTHER)))[0]!.row)).toBe(1 + 5);
  expect(requestsIn((await read(planRow(OTHER)))[0]!.row)).toBe(1 + names.length - MOST_PLANS);
});

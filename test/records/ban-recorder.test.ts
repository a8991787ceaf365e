import { beforeEach, expect, jest, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import { type BanRecorder, createBanRecorder } from '../../src/records/ban-recorder.ts';
import { type AuditNote, IdempotencyConflict } from '../../src/records/operators/audit-log.ts';
import type { StartedBan } from '../../src/state/state.ts';
import { ESCALATION, limits, MINUTE, window } from '../support/limits.ts';
import { until } from '../support/until.ts';

const minute = { ...window(60, MINUTE), name: 'minute' };

const ban = (subject: string, changes: Partial<StartedBan> = {}): StartedBan => ({
  subject,
  limits: limits([minute]),
  until: 10 * MINUTE,
  level: 1,
  violated: minute,
  ...changes,
});

/** A log that takes nothing while `isDown`, and of each name one entry. */
class TestLog {
  readonly notes: AuditNote[] = [];
  readonly #names = new Set<string>();
  isDown = false;
  broken = false;
  /** Holds up each append. */
  gate: Promise<void> = Promise.resolve();

  async append(note: AuditNote): Promise<void> {
    await this.gate;
    if (this.isDown) throw new Outage('state_unavailable', { cause: 'down' });
    if (this.broken) throw new Error('broken');
    const { name } = note.idempotent!;
    if (this.#names.has(name)) throw new IdempotencyConflict();
    this.#names.add(name);
    this.notes.push(note);
  }
}

let log: TestLog;
let dropped: number[];
let failed: unknown[];
let recorder: BanRecorder;
beforeEach(() => {
  log = new TestLog();
  dropped = [];
  failed = [];
  recorder = createBanRecorder({
    log,
    reportsLateBans: true,
    dropped: (count) => void dropped.push(count),
    failed: (error) => void failed.push(error),
  });
});

const targets = () => log.notes.map(({ entry }) => entry.target);

test('an entry names the limit, the strikes and the operation of the last of them', async () => {
  recorder.begun(ban('key:key_1'), { plan: 'free', operation: 'listPets', requestId: 'r1' });
  await recorder.close();
  const begin = 10 * MINUTE - ESCALATION.durations[0]!;
  expect(log.notes[0]!.entry).toMatchObject({
    at: begin,
    actor: 'storegate',
    action: 'bans.start',
    target: 'key_1',
    requestId: 'r1',
    before: { plan: 'free', until: null },
    after: { limit: '60/minute', strikes: ESCALATION.strikes, operation: 'listPets', level: 1 },
  });
});

test('a ban that only the state reports is that of the last strike that was noted', async () => {
  recorder.note('account:team:acme', 'ignored', 'addPet', 'r1');
  recorder.note('account:team:acme', 'ignored', null, 'r2');
  recorder.begun(ban('account:team:acme', { level: 2, violated: null }));
  recorder.begun(ban('key:key_2'));
  await recorder.close();
  expect(log.notes.map(({ entry }) => [entry.target, entry.requestId, entry.before])).toEqual([
    ['acme', 'r2', { plan: 'team', until: null }],
    ['key_2', '', { plan: null, until: null }],
  ]);
  expect(log.notes[0]!.entry.at).toBe(10 * MINUTE - ESCALATION.durations[1]!);
  expect(log.notes[0]!.entry.after).toMatchObject({ limit: null, operation: null, level: 2 });
});

test('a ban that is reported twice, here or by another gateway, is written once', async () => {
  recorder.begun(ban('key:key_1'));
  recorder.begun(ban('key:key_1'));
  recorder.begun(ban('key:key_1', { until: 20 * MINUTE }));
  await recorder.close();
  expect(targets()).toEqual(['key_1', 'key_1']);
  expect(dropped).toEqual([]);
});

test('entries that the state did not take during an outage are written when it is up, in order', async () => {
  jest.useFakeTimers();
  try {
    log.isDown = true;
    for (const id of ['a', 'b', 'c']) recorder.begun(ban(`key:${id}`));
    await jest.advanceTimersByTimeAsync(10_000);
    expect(targets()).toEqual([]);
    log.isDown = false;
    await jest.advanceTimersByTimeAsync(2_000);
    expect(targets()).toEqual(['a', 'b', 'c']);
  } finally {
    jest.useRealTimers();
  }
});

test('a gateway that stops tries once more, and reports how many will never be written', async () => {
  log.isDown = true;
  for (const id of ['a', 'b', 'c']) recorder.begun(ban(`key:${id}`));
  await recorder.close();
  expect([targets(), dropped]).toEqual([[], [3]]);
  recorder.begun(ban('key:d'));
  expect(dropped).toEqual([3, 1]);
});

test('a flood keeps a bounded number, and reports what it dropped: the first at once, the rest when there is room', async () => {
  let open = () => {};
  log.gate = new Promise((resolve) => {
    open = resolve;
  });
  for (let i = 0; i < 10_250; i++) recorder.begun(ban(`key:${i}`));
  expect(dropped).toEqual([1]);
  // However slow the machine is, it has the time.
  const now = jest.spyOn(performance, 'now').mockReturnValue(0);
  try {
    open();
    await recorder.close();
  } finally {
    now.mockRestore();
  }
  expect(targets()).toEqual(Array.from({ length: 10_000 }, (_, i) => `${i}`));
  expect(dropped).toEqual([1, 249]);
});

test('a flood is written little by little', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    for (let i = 0; i < 500; i++) recorder.begun(ban(`key:${i}`));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(targets().length).toBeGreaterThan(100);
    expect(targets().length).toBeLessThanOrEqual(201);
  } finally {
    jest.useRealTimers();
  }
  await recorder.close();
  expect(targets()).toHaveLength(500);
});

test('a stop gives up after a while, and reports what was not written', async () => {
  const now = jest.spyOn(performance, 'now');
  try {
    for (const id of ['a', 'b', 'c']) recorder.begun(ban(`key:${id}`));
    const closing = recorder.close();
    now.mockReturnValue(performance.now() + 10_000);
    await closing;
  } finally {
    now.mockRestore();
  }
  expect([targets(), dropped]).toEqual([['a'], [2]]);
});

test('an entry that fails for a reason of its own holds up no other', async () => {
  log.broken = true;
  recorder.begun(ban('key:a'));
  await until('it has failed', () => failed.length === 1);
  log.broken = false;
  recorder.begun(ban('key:b'));
  await recorder.close();
  expect([targets(), dropped]).toEqual([['b'], []]);
});

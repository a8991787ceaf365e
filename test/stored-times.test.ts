import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { createSessions } from '../src/admin/sessions.ts';
import { keyView } from '../src/admin/view.ts';
import { createAddressSubjects } from '../src/common/clients/address-subjects.ts';
import { createAddressWindow } from '../src/common/clients/address-window.ts';
import { createCounterQuota } from '../src/common/clients/counter-quota.ts';
import { Outage } from '../src/common/errors/outage.ts';
import { createRollup } from '../src/ledger/rollup.ts';
import { createUsageWriter } from '../src/ledger/writer.ts';
import { admit, remainingIn } from '../src/limits/admission.ts';
import { newCounters } from '../src/limits/counters.ts';
import { NO_SCOPES } from '../src/limits/scopes.ts';
import type { RequestTrace } from '../src/observe/events.ts';
import { createRepeatedRefusals } from '../src/observe/repeated-refusals.ts';
import { createRecentRequests } from '../src/observe/request-log/recent.ts';
import { openOutbox } from '../src/records/embedded/outbox.ts';
import { recordsInFile } from '../src/records/embedded/records.ts';
import { createKeyring } from '../src/records/keys/keyring.ts';
import { createLastUseTracker } from '../src/records/keys/last-use-tracker.ts';
import type { KeyStore } from '../src/records/keys/store.ts';
import { createProcessHealth } from '../src/run/process-health.ts';
import { openStateFile } from '../src/state/embedded/file.ts';
import { notifyExpiring } from '../src/webhooks/expiry-notices.ts';
import { createIncidents } from '../src/webhooks/incidents.ts';
import { createQuotaDetector } from '../src/webhooks/quota-detector.ts';
import { KEPT } from './support/audit.ts';
import { MemoryUsage, readerOf, usageIn } from './support/ledger.ts';
import { DAY, HOUR, limits, MINUTE, SECOND, TestClock, window } from './support/limits.ts';
import { keyRecord, note } from './support/records.ts';
import { connectRecords } from './support/redis/records.ts';
import { DEFAULTS } from './support/redis/settings.ts';
import { redisForSuite } from './support/redis/suite.ts';
import { ANY, requestEvent } from './support/request-event.ts';

const suite = redisForSuite();
const NOON = Date.UTC(2026, 0, 1, 12);
const ADDRESS = '198.51.100.1';

const ends: (() => void)[] = [];
afterEach(() => {
  jest.useRealTimers();
  for (const end of ends.splice(0).reverse()) end();
});

/**
 * The clock of the machine, an hour fast until `setBack`. Timers and the monotonic clock continue.
 */
function fastMachine() {
  jest.useFakeTimers({ now: NOON + HOUR });
  return {
    setBack: () => jest.setSystemTime(Date.now() - HOUR),
    pass: (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds),
  };
}

/** The clock that a part was given, an hour fast. */
const fastClock = () => new TestClock(NOON + HOUR);

function stateFile() {
  const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  const db = openStateFile(folder);
  ends.push(
    () => rmSync(folder, { recursive: true }),
    () => db.close(),
  );
  return db;
}

const bug = (error: unknown) => {
  throw error;
};

/** What was stored before the clock was set back by an hour, and what holds then. */
const ROWS: Readonly<Record<string, () => unknown>> = {
  async 'window of failed attempts, page visits and /usage calls'() {
    const { setBack } = fastMachine();
    const { take, look } = createAddressWindow(window(1, MINUTE));
    for (let i = 0; i < 2; i++) await take(ADDRESS);
    setBack();
    for (const { readings, now } of [await take(ADDRESS), await look(ADDRESS)]) {
      expect(remainingIn(readings[0]!)).toBe(0);
      expect(readings[0]).toMatchObject({ resetAt: now + MINUTE });
    }
  },
  async 'number of addresses with a window of their own'() {
    const { setBack, pass } = fastMachine();
    const { take } = createAddressWindow(window(2, MINUTE), 1);
    await take(ADDRESS);
    setBack();
    await pass(MINUTE);
    const next = '203.0.113.1';
    await take(next);
    // They use all shared counters, so it would be exhausted without its own.
    for (let i = 0; i < 10_000; i++) await take(`10.0.${i >> 8}.${i & 255}`);
    expect((await take(next)).exhausted).toBe(false);
  },
  'subject of an address'() {
    const clock = fastClock();
    const subjects = createAddressSubjects(clock.read, createCounterQuota(1));
    expect(subjects.of(ADDRESS)).toBe(`address:${ADDRESS}`);
    clock.pass(-HOUR);
    expect(subjects.of('192.0.2.1')).toMatch(/shared/);
    clock.pass(DAY);
    expect(subjects.of('192.0.2.1')).toBe('address:192.0.2.1');
  },
  'console session'() {
    const clock = fastClock();
    const sessions = createSessions(
      () => ({ idle: 10 * MINUTE, longest: 30 * MINUTE }),
      clock.read,
    );
    const [idle, used] = [sessions.begin('a'), sessions.begin('b')];
    clock.pass(-HOUR);
    expect([sessions.find(idle), sessions.find(used)]).toEqual(['a', 'b']);
    clock.pass(8 * MINUTE);
    sessions.use(used);
    clock.pass(8 * MINUTE);
    expect([sessions.find(idle), sessions.find(used)]).toEqual([null, 'b']);
    for (const minutes of [0, 8, 7]) {
      clock.pass(minutes * MINUTE);
      sessions.use(used);
    }
    expect(sessions.find(used)).toBeNull();
  },
  async 'last use of a key'() {
    const backend = recordsInFile(stateFile(), KEPT).uses;
    const clock = fastClock();
    const tracker = createLastUseTracker(backend, { clock: clock.read, failed: bug });
    const saved = async (keyId: string) => {
      tracker.note(keyId);
      await tracker.flush();
      return (await backend.load([keyId])).get(keyId);
    };
    expect(await saved('key_1')).toBe(NOON + HOUR);
    tracker.note('key_2');
    clock.pass(-HOUR);
    expect([await saved('key_1'), await saved('key_2')]).toEqual([NOON, NOON]);
    await tracker.close();
    expect(keyView(keyRecord(), NOON, NOON + HOUR).lastUsed).toBe(new Date(NOON).toISOString());
  },
  'call of a deprecated operation'() {
    const clock = fastClock();
    const tracker = createLastUseTracker(recordsInFile(stateFile(), KEPT).uses, {
      clock: clock.read,
      failed: bug,
    });
    tracker.noteDeprecated('key_1', 'listPets');
    clock.pass(-HOUR);
    expect(tracker.deprecatedBy('key_1')).toEqual(new Map([['listPets', NOON]]));
  },
  async 'idempotent answer'() {
    const { auditLog } = recordsInFile(stateFile(), KEPT);
    const isAnswered = async (at: number) => (await auditLog.resultOf('once', at)) !== null;
    await auditLog.append(note({ at: NOON + HOUR }, 'once'));
    expect([await isAnswered(NOON), await isAnswered(NOON + 25 * HOUR + 1)]).toEqual([true, false]);
    // Set back by more than the lifetime of an answer.
    expect(await isAnswered(NOON - 23 * HOUR - 1)).toBe(false);
    await auditLog.append(note({ at: NOON - 24 * HOUR }, 'once'));
    expect(await isAnswered(NOON - 24 * HOUR)).toBe(true);
  },
  async 'entry of the ban log'() {
    const { banLog } = recordsInFile(stateFile(), {
      ...KEPT,
      bans: { maxEntries: 9, maxAge: 2 * HOUR },
    });
    const targets = async (at: number, target: string) => {
      await banLog.append(note({ at, target }));
      return (await banLog.list({ limit: 9 })).map((entry) => entry.target);
    };
    await targets(NOON + HOUR, 'a');
    expect(await targets(NOON, 'b')).toEqual(['b', 'a']);
    expect(await targets(NOON + 3 * HOUR + 1, 'c')).toEqual(['c']);
  },
  async 'search for expiring keys'() {
    const outbox = openOutbox(null);
    ends.push(() => outbox.close());
    let searches = 0;
    const keys = {
      async *readExpiring() {
        searches++;
        yield [];
      },
    };
    const search = (now: number) => notifyExpiring(keys, outbox, { ahead: DAY, now }, bug);
    for (const now of [NOON + HOUR, NOON, NOON + HOUR]) await search(now);
    expect(searches).toBe(3);
  },
  'outage in a webhook'() {
    const incidents = createIncidents('gw-1', () => 0);
    const sighting = {
      sight: 'backend',
      name: 'one:80',
      about: { upstream: 'default', backend: 'one:80' },
    } as const;
    incidents.see({ ...sighting, isDown: true, at: NOON + HOUR }, null);
    expect(incidents.see({ ...sighting, isDown: false, at: NOON }, null)!.data.duration).toBe(0);
  },
  'threshold of a quota'() {
    const ends: unknown[] = [];
    const readQuota = createQuotaDetector(DAY, ({ data }) => void ends.push(data.resets));
    const given = limits([window(1, DAY)]);
    for (const now of [NOON + HOUR, NOON, NOON]) {
      const admission = admit(newCounters(given.windows), given, 1, now);
      readQuota(
        requestEvent({
          trace: { subject: 'key:key_1', admission, cost: 1, scopes: NO_SCOPES } as RequestTrace,
        }),
      );
    }
    const ofEach = [NOON + HOUR, NOON].map((begin) => new Date(begin + DAY).toISOString());
    expect(ends).toEqual(ofEach.flatMap((end) => [end, end]));
  },
  async 'minute of the ledger'() {
    const clock = fastClock();
    const store = new MemoryUsage();
    const writer = createUsageWriter({ process: 'a#1', clock: clock.read, failed: bug });
    writer.begin(store, null);
    writer.recorder.observe(requestEvent());
    clock.pass(-HOUR);
    writer.recorder.observe(requestEvent());
    await writer.close();
    const retention = () => ({ hours: DAY, days: DAY, maxBytes: 1e9 });
    const rollup = createRollup({ store, retention, damaged: bug });
    await rollup.run(NOON + 2 * MINUTE);
    const found = (to: number) => usageIn(readerOf(store), { from: NOON - DAY, to }, 'minute');
    expect((await found(NOON + MINUTE)).get('key_1')).toMatchObject({ requests: 1 });
    expect((await found(NOON + DAY)).get('key_1')).toMatchObject({ requests: 2 });
  },
  'recent request'() {
    const clock = fastClock();
    const recent = createRecentRequests(
      { bufferSize: 4, sampleRate: 1 },
      { worker: null, clock: clock.read },
    );
    const refuse = (id: string) =>
      recent.observe(requestEvent({ id, status: 404, code: 'not_found', duration: 0 }));
    for (const id of ['a', 'b', 'c']) refuse(id);
    clock.pass(-HOUR);
    refuse('d');
    clock.pass(MINUTE);
    expect(recent.refusals(ANY).map(({ id, at }) => [id, at])).toEqual([
      ['d', NOON],
      ['c', NOON],
    ]);
    expect(recent.explain('c').request!.at).toBe(NOON + MINUTE);
    expect(recent.explain('c').memory).toMatchObject({
      goodSince: NOON + MINUTE,
      othersSince: NOON + MINUTE,
    });
    clock.pass(MINUTE);
    expect(recent.explain('c').memory).toMatchObject({
      goodSince: NOON + MINUTE,
      othersSince: NOON + MINUTE,
    });
  },
  'line of repeated refusals'() {
    const { setBack, pass } = fastMachine();
    const lines: (number | undefined)[] = [];
    const refusals = createRepeatedRefusals((_event, count) => void lines.push(count));
    for (let i = 0; i < 12; i++)
      refusals.take(requestEvent({ status: 429, code: 'rate_limit_exceeded' }));
    setBack();
    return pass(2 * SECOND).then(() => {
      expect(lines).toHaveLength(11);
      refusals.close();
    });
  },
  'begin of an outage in the status'() {
    const { setBack, pass } = fastMachine();
    const health = createProcessHealth();
    health.observe({ type: 'state.outage', policy: 'local', error: null });
    setBack();
    expect(health.ofState.localSince).toBe(NOON);
    return pass(MINUTE).then(() => expect(health.ofState.localSince).toBe(NOON));
  },
  async 'begin of a condition and of a loss in the health'() {
    const { setBack, pass } = fastMachine();
    const health = createProcessHealth();
    const begins = (logLines: number) =>
      health.conditions({ logLines, requests: 0 }).map(({ since }) => since);
    health.observe({ type: 'state.write_failed', error: null });
    begins(1);
    setBack();
    expect(begins(1)).toEqual([NOON, NOON]);
    await pass(6 * MINUTE);
    expect(begins(1)).toEqual([NOON]);
  },
  async 'confirmation of the copy of records'() {
    const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
    const connection = await connectRecords({ ...DEFAULTS, url: suite.server.url });
    ends.push(
      () => rmSync(folder, { recursive: true }),
      () => connection.close(),
    );
    const now = jest.spyOn(Date, 'now').mockReturnValue(NOON + HOUR);
    const { copy, records } = connection.open({ folder, maxAge: 2 * HOUR });
    await records.keys.isEmpty();
    now.mockReturnValue(NOON);
    expect([copy.age, copy.usable !== null]).toEqual([HOUR, true]);
    await records.keys.isEmpty();
    expect(copy.age).toBe(0);
    now.mockRestore();
  },
  async 'retry of a key in the keyring'() {
    const { setBack, pass } = fastMachine();
    let lookups = 0;
    let changed = () => {};
    const find = async () => {
      if (++lookups === 2) throw new Outage('state_unavailable');
      return keyRecord();
    };
    const watch = (listener: () => void) => {
      changed = listener;
      return () => {};
    };
    const backend = { find, watch, hasImported: () => false } as unknown as KeyStore;
    const plans = { plans: new Map(), escalation: null, accounts: new Map() };
    const keyring = createKeyring(backend, plans);
    await keyring.find('a');
    changed();
    await keyring.find('a');
    setBack();
    await pass(SECOND);
    await keyring.find('a');
    expect(lookups).toBe(3);
    keyring.close();
  },
};

test.each(Object.entries(ROWS))(
  'a clock that is set back by an hour holds nothing: %s',
  async (_, holds) => {
    await holds();
  },
);

test('every stored time is documented', () => {
  const text = readFileSync(join(import.meta.dirname, '../docs/decisions/time.md'), 'utf8');
  const documented = [...text.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)].map(([, name]) => name);
  expect(documented.slice(1)).toEqual(Object.keys(ROWS));
});

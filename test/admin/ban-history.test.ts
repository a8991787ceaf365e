import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eachInTurn, endsOf, entriesSince, recentBansOf } from '../../src/admin/ban-history.ts';
import { loadConfig } from '../../src/config/load.ts';
import { recordsInFile } from '../../src/records/embedded/records.ts';
import { type AuditLog, failedEntry } from '../../src/records/operators/audit-log.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { KEPT } from '../support/audit.ts';
import { temporaryFolders } from '../support/temporary.ts';

const KEY = 'key_0123456789abcdef';
const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = Date.parse('2030-01-01T00:00:00Z');

const folder = temporaryFolders();
let db: DatabaseSync;
let log: AuditLog;
let requests: number;
beforeEach(() => {
  db = openStateFile(folder());
  ({ banLog: log } = recordsInFile(db, KEPT));
  requests = 0;
});
afterEach(() => db.close());

/** `at` and `until`: minutes from now. */
async function record(
  actor: string,
  action: string,
  at: number,
  until: number | null,
  { target = KEY, plan = 'free' } = {},
) {
  const entry = {
    at: NOW + at * MINUTE,
    actor,
    action: `bans.${action}`,
    target,
    requestId: `request ${++requests}`,
    before: { plan, until: null },
    after: {
      plan,
      until: until === null ? null : new Date(NOW + until * MINUTE).toISOString(),
      reason: `of ${actor}`,
    },
  };
  await log.append({ entry, idempotent: null });
  return entry;
}

async function ends(): Promise<string[]> {
  const entries = await log.list({ limit: 1_000 });
  const found = await endsOf(log, entries, NOW);
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([number, { how, by, at }]) => {
      return `${number} ${how} ${by ?? '-'} ${Math.round((Date.parse(at) - NOW) / MINUTE)}`;
    });
}

/** As for a ban log that keeps entries for `maxAge` milliseconds. */
async function recentOf(subject: string, maxAge = DAY) {
  const { audit, ...config } = loadConfig({ env: {}, cwd: folder() });
  const kept = { ...config, audit: { ...audit, bans: { ...audit.bans, maxAge } } };
  return await recentBansOf(subject, NOW, { banLog: log, config: () => kept });
}

test('a ban expires, is lifted, or is replaced by the next one', async () => {
  await record('storegate', 'start', -60, -50);
  await record('storegate', 'start', -40, -10);
  await record('alice', 'lift', -30, null);
  await record('storegate', 'start', -25, -20);
  await record('bob', 'extend', -22, 10);
  await record('bob', 'add', -5, 60);
  expect(await ends()).toEqual([
    '1 expired - -50',
    '2 lifted alice -30',
    '4 extended bob -22',
    '5 replaced bob -5',
  ]);
});

test('lifting an expired ban does not end it', async () => {
  await record('storegate', 'start', -60, -50);
  await record('alice', 'lift', -30, null);
  expect(await ends()).toEqual(['1 expired - -50']);
});

test('a failed entry ends no ban and is not a ban', async () => {
  await record('storegate', 'start', -10, 10);
  const lift = await record('alice', 'lift', -5, null);
  await log.append({ entry: failedEntry(lift), idempotent: null });
  const added = await record('alice', 'add', -4, 60);
  await log.append({ entry: failedEntry(added), idempotent: null });
  expect(await ends()).toEqual(['4 failed - -4']);
  expect((await recentOf(`key:${KEY}`)).history).toEqual({ bans: 1, lifted: null });
});

test('bans of other subjects, and of the account under another plan, end no ban', async () => {
  await record('storegate', 'start', -10, 10, { target: 'acme', plan: 'team' });
  await record('alice', 'lift', -5, null, { target: 'acme', plan: 'crew' });
  await record('alice', 'lift', -5, null);
  expect(await ends()).toEqual([]);
  const [team, crew] = [await recentOf('account:team:acme'), await recentOf('account:crew:acme')];
  expect(team.history).toEqual({ bans: 1, lifted: null });
  expect(crew.history).toMatchObject({ bans: 0, lifted: { by: 'alice' } });
});

test('finds bans across several pages of entries, from a given time on', async () => {
  await record('storegate', 'start', -40 * 1_440, -39 * 1_440);
  await record('storegate', 'start', -29 * 1_440, 10);
  for (let i = 0; i < 1_100; i++)
    await record('storegate', 'start', -20 * 1_440, 10, { target: `key_${i}` });
  await record('alice', 'lift', -1, null);
  const second = await log.list({ above: 1, limit: 1 });
  expect([...(await endsOf(log, second, NOW)).values()]).toEqual([
    { at: new Date(NOW - MINUTE).toISOString(), how: 'lifted', by: 'alice' },
  ]);
  const recent = await recentOf(`key:${KEY}`, 30 * DAY);
  expect(recent.history).toEqual({
    bans: 1,
    lifted: { at: new Date(NOW - MINUTE).toISOString(), by: 'alice' },
  });
  expect(recent.causeOf(NOW + 10 * MINUTE)?.reason).toBe('of storegate');
  expect(recent.causeOf(NOW + 11 * MINUTE)).toBeNull();
});

test('finds an entry of an outage among newer ones', async () => {
  await record('storegate', 'start', -60, 10);
  await record('storegate', 'start', -600, -550, { target: 'key_other' });
  const found = await Array.fromAsync(entriesSince(log, NOW - 100 * MINUTE));
  expect(found.map(({ number }) => number)).toEqual([1]);
});

test('others run between the pages of a long log', async () => {
  let turns = 0;
  setImmediate(() => turns++);
  await Array.fromAsync(entriesSince(log, NOW - DAY));
  expect(turns).toBe(1);
});

test('of many subjects 50 are read at once, and the order stays', async () => {
  let [running, most] = [0, 0];
  const items = Array.from({ length: 120 }, (_, i) => i);
  const results = await eachInTurn(items, async (item) => {
    running++;
    most = Math.max(most, running);
    await log.list({ limit: 1 });
    running--;
    return item;
  });
  expect(results).toEqual(items);
  expect(most).toBe(50);
});

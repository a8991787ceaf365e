import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { banAuthorOf } from '../../src/admin/ban-history.ts';
import { recordsInFile } from '../../src/records/embedded/records.ts';
import { type AuditLog, failedEntry } from '../../src/records/operators/audit-log.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { KEPT } from '../support/audit.ts';
import { temporaryFolders } from '../support/temporary.ts';

const KEY = 'key_0123456789abcdef';
const UNTIL = Date.parse('2030-01-01T00:00:00Z');
const LATER = UNTIL + 3_600_000;

const folder = temporaryFolders();
let db: DatabaseSync;
let auditLog: AuditLog;
let requests: number;
beforeEach(() => {
  db = openStateFile(folder());
  ({ auditLog } = recordsInFile(db, KEPT));
  requests = 0;
});
afterEach(() => db.close());

const entryOf = (
  actor: string,
  action: string,
  until: number | null,
  { target = KEY, plan = 'free' } = {},
) => ({
  at: 1,
  actor,
  action,
  target,
  before: null,
  requestId: `request ${++requests}`,
  after: {
    plan,
    until: until === null ? null : new Date(until).toISOString(),
    reason: `of ${actor}`,
  },
});
const record = async (...[actor, action, until, of]: Parameters<typeof entryOf>) => {
  const entry = entryOf(actor, action, until, of);
  await auditLog.append({ entry, idempotent: null });
  return entry;
};
const found = async (subject = `key:${KEY}`, until = UNTIL) =>
  await banAuthorOf(auditLog, subject, until);

test('the author of a ban is the last entry that fits its end, whatever happened since', async () => {
  await record('anna', 'bans.add', UNTIL);
  for (let i = 0; i < 120; i++) await record('bob', 'keys.update', null);
  expect(await found()).toEqual({ by: 'anna', reason: 'of anna' });
  expect(await found(`key:${KEY}`, UNTIL + 9_000)).toEqual({ by: 'anna', reason: 'of anna' });
  expect(await found(`key:${KEY}`, LATER)).toBeNull();
  expect(await found('key:key_another')).toBeNull();
});

test('a ban after a lifted one has no author, even if both end at the same time', async () => {
  await record('anna', 'bans.add', UNTIL);
  await record('bob', 'bans.lift', null);
  expect(await found()).toBeNull();
});

test('a failed change has no effect, unless the ban exists', async () => {
  await record('anna', 'bans.add', UNTIL);
  for (const [action, until] of [
    ['bans.extend', LATER],
    ['bans.lift', null],
  ] as const) {
    const entry = await record('bob', action, until);
    await auditLog.append({ entry: failedEntry(entry), idempotent: null });
  }
  expect(await found()).toEqual({ by: 'anna', reason: 'of anna' });
  expect(await found(`key:${KEY}`, LATER)).toEqual({ by: 'bob', reason: 'of bob' });
});

test('bans of an account are distinguished by plan', async () => {
  await record('anna', 'bans.add', UNTIL, { target: 'acme', plan: 'team' });
  await record('bob', 'bans.add', UNTIL, { target: 'acme', plan: 'crew' });
  expect(await found('account:team:acme')).toMatchObject({ by: 'anna' });
  expect(await found('account:crew:acme')).toMatchObject({ by: 'bob' });
  expect(await found('account:new:acme')).toBeNull();
});

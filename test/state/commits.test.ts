import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { MaybePromise } from '../../src/common/maybe-promise.ts';
import { recordsInFile } from '../../src/records/embedded/records.ts';
import type { Records } from '../../src/records/storage.ts';
import { syncsCommitsOf } from '../../src/state/embedded/commits.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { KEPT } from '../support/audit.ts';
import { changed, keyRecord, note } from '../support/records.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folderOf = temporaryFolders();
let folder: string;
let db: ReturnType<typeof openStateFile>;
beforeEach(() => {
  folder = folderOf();
  db = openStateFile(folder);
});
afterEach(() => db.close());

const token = { name: 'ci', hash: 'hash', role: 'read', createdAt: 1 } as const;
const first = keyRecord();

describe('a change in the state file', () => {
  test.each<
    [string, (records: Pick<Records, 'keys' | 'auditLog' | 'tokens'>) => MaybePromise<unknown>]
  >([
    ['a key', ({ keys }) => keys.add(keyRecord(), note())],
    ['a changed key', ({ keys }) => keys.replace(changed(first, { label: 'changed' }), note())],
    ['a token', ({ tokens }) => tokens.add(token, note())],
    ['a token that goes', ({ tokens }) => tokens.remove('old', note())],
    ['an entry', ({ auditLog }) => auditLog.append(note())],
    ['an answer that is forgotten', ({ auditLog }) => auditLog.forget('call')],
  ])('resolves once it is synced, and not before: %s', async (_, make) => {
    const before = recordsInFile(db, KEPT);
    await before.keys.add(first, note());
    await before.tokens.add({ ...token, name: 'old', hash: 'old' }, note());
    let synced = () => {};
    const syncing = new Promise<void>((resolve) => {
      synced = resolve;
    });
    let isDone = false;
    const made = Promise.resolve(make(recordsInFile(db, KEPT, () => syncing))).then(() => {
      isDone = true;
    });
    // Another commit, with all its turns.
    await recordsInFile(db, KEPT).auditLog.append(note());
    expect(isDone).toBe(false);
    synced();
    await made;
  });

  test('rejects where it cannot be synced', async () => {
    const failing = recordsInFile(db, KEPT, () => Promise.reject(new Error('the disk is gone')));
    await expect(failing.keys.add(keyRecord(), note())).rejects.toThrow('the disk is gone');
    await expect(failing.tokens.add(token, note())).rejects.toThrow('the disk is gone');
    await expect(failing.auditLog.append(note())).rejects.toThrow('the disk is gone');
  });
});

test('a full disk refuses changes, says so, and leaves everything as it was', async () => {
  const { keys, tokens, auditLog } = recordsInFile(db, KEPT);
  const { pages } = db.prepare('SELECT page_count AS pages FROM pragma_page_count').get() as {
    pages: number;
  };
  db.exec(`PRAGMA max_page_count = ${pages}`);
  const large = note({ after: 'x'.repeat(100_000) });
  for (const refused of [
    () => keys.add(first, large),
    () => tokens.add(token, large),
    () => auditLog.append(large),
  ]) {
    await expect(refused()).rejects.toMatchObject({
      code: 'state_unavailable',
      cause: { message: 'nothing was changed, because the data folder cannot be written' },
    });
  }
  expect([await keys.isEmpty(), await tokens.list(), await auditLog.list({ limit: 9 })]).toEqual([
    true,
    [],
    [],
  ]);
  db.exec('PRAGMA max_page_count = 1000000');
  await keys.add(first, large);
  expect(await keys.get(first.id)).toEqual(first);
});

describe('syncing the state file', () => {
  test('is done however many ask at once, and where the last connection has closed it', async () => {
    const sync = syncsCommitsOf(db);
    await Promise.all([sync(), sync(), sync()]);
    await sync();
    const other = openStateFile(folderOf());
    const syncOther = syncsCommitsOf(other);
    other.close();
    await syncOther();
  });

  test('says what holds where it fails', async () => {
    const sync = syncsCommitsOf(db);
    rmSync(folder, { recursive: true });
    await expect(sync()).rejects.toMatchObject({
      code: 'state_unavailable',
      cause: { message: expect.stringMatching(/^the change holds, but may be lost/) },
    });
  });
});

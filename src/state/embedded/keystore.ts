import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { type KeyRecord, readRecord } from '../../keys/key.ts';
import type { AuditNote } from '../../keys/operators/audit-log.ts';
import { KeyConflict, type KeyQuery, type KeyStore, KeyTaken } from '../../keys/store.ts';
import type { MakeChange } from './audit-log.ts';

/** Keys per read; one page takes about 2 ms. */
const PAGE_SIZE = 500;
/** Milliseconds between two checks for changes by other processes. A check costs microseconds. */
const POLL_INTERVAL = 800;

/** Keys in the embedded state file. Commands may change them while a gateway runs. */
export function keysInFile(db: DatabaseSync, make: MakeChange): KeyStore {
  const byHash = db.prepare('SELECT record FROM keys WHERE hash = ?');
  const byPrevious = db.prepare('SELECT record FROM keys WHERE previous = ?');
  const byId = db.prepare('SELECT record FROM keys WHERE id = ?');
  const any = db.prepare('SELECT 1 FROM keys LIMIT 1');
  const imported = db.prepare(`SELECT 1 FROM keys WHERE json_extract(record, '$.imported') = 1 LIMIT 1`);
  const insert = db.prepare('INSERT INTO keys (id, hash, record) VALUES (?, ?, ?)');
  const update = db.prepare('UPDATE keys SET hash = ?, previous = ?, record = ? WHERE id = ?');
  const listeners = new Set<() => void>();

  const find = (hash: string) => parse(byHash.get(hash)) ?? parse(byPrevious.get(hash));
  const get = (id: string) => parse(byId.get(id));

  async function* read({ account, newestFirst = false, after }: KeyQuery = {}): AsyncGenerator<readonly KeyRecord[]> {
    const part = pageAfter(db, account !== undefined, newestFirst);
    let last = after ?? { id: '', createdAt: newestFirst ? Number.MAX_SAFE_INTEGER : -1 };
    for (;;) {
      const named = account === undefined ? {} : { account };
      const records = part.all({ ...named, created: last.createdAt, id: last.id }).map((row) => parse(row)!);
      yield records;
      if (records.length < PAGE_SIZE) return;
      last = records.at(-1)!;
      await setImmediate();
    }
  }

  async function change(note: AuditNote, work: () => unknown): Promise<void> {
    const notify = () => {
      for (const listener of listeners) listener();
    };
    await make(note, work, notify);
  }

  function addInside(record: KeyRecord): void {
    if (get(record.id)) throw new KeyTaken(`the key id ${record.id} is taken`);
    if (find(record.hash)) throw new KeyTaken('the hash of the key is taken');
    insert.run(record.id, record.hash, JSON.stringify(record));
  }

  return {
    find,
    get,
    findMany: (hashes) => hashes.map(find),
    read,
    isEmpty: () => any.get() === undefined,
    add: (record, note) => change(note, () => addInside(record)),
    addMany: (records, note) => change(note, () => records.forEach(addInside)),
    replace: (record, note) =>
      change(note, () => {
        const stored = get(record.id);
        if (!stored) throw new Error(`the key ${record.id} does not exist`);
        if (stored.version !== record.version - 1) throw new KeyConflict(`key ${record.id} was changed meanwhile`);
        const owner = find(record.hash);
        if (owner && owner.id !== record.id) throw new KeyTaken('the hash of the key is taken');
        update.run(record.hash, record.previous?.hash ?? null, JSON.stringify(record), record.id);
      }),
    hasImported: () => imported.get() !== undefined,
    watch(changed) {
      listeners.add(changed);
      const timer = watchOtherProcesses(db, changed);
      return () => {
        listeners.delete(changed);
        clearInterval(timer);
      };
    },
  };
}

/** Reads keys, or those of one account, after a cursor. The indices in file.ts match these exact expressions. */
function pageAfter(db: DatabaseSync, isOfAccount: boolean, newestFirst: boolean) {
  const created = `json_extract(record, '$.createdAt')`;
  const which = isOfAccount ? `json_extract(record, '$.account') = $account AND` : '';
  const [beyond, order] = newestFirst ? ['<', 'DESC'] : ['>', 'ASC'];
  // SQLite seeks in an index by a scalar comparison, not by a row-value comparison.
  return db.prepare(
    `SELECT record FROM keys WHERE ${which} ${created} ${beyond}= $created
     AND (${created} ${beyond} $created OR rowid ${beyond} (SELECT rowid FROM keys WHERE id = $id))
     ORDER BY ${created} ${order}, rowid ${order} LIMIT ${PAGE_SIZE}`,
  );
}

/** SQLite's data_version changes whenever another connection commits. */
function watchOtherProcesses(db: DatabaseSync, changed: () => void): NodeJS.Timeout {
  const version = db.prepare('PRAGMA data_version');
  const read = () => (version.get() as { data_version: number }).data_version;
  let seen = read();
  return setInterval(() => {
    const current = read();
    if (current === seen) return;
    seen = current;
    changed();
  }, POLL_INTERVAL).unref();
}

export function parse(row: unknown): KeyRecord | null {
  return row === undefined ? null : readRecord((row as { record: string }).record);
}

import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { type KeyRecord, readRecord } from '../keys/key.ts';
import {
  KeyConflict,
  type KeyQuery,
  type KeyStore,
  KeyTaken,
} from '../keys/store.ts';
import type { AuditNote } from '../operators/audit-log.ts';
import type { MakeChange } from './audit-log.ts';

/** Keys per read; one page takes about 2 ms. */
const PAGE_SIZE = 500;
/** Keys counted at a time; they take about 1 ms. */
const COUNT_SIZE = 10_000;
/** Milliseconds between two checks for changes by other processes. A check costs microseconds. */
const POLL_INTERVAL = 800;

/** Keys in the embedded state file. Commands may change them while a gateway runs. */
export function keysInFile(db: DatabaseSync, make: MakeChange): KeyStore {
  const byHash = db.prepare('SELECT record FROM keys WHERE hash = ?');
  const byPrevious = db.prepare('SELECT record FROM keys WHERE previous = ?');
  const byId = db.prepare('SELECT record FROM keys WHERE id = ?');
  const any = db.prepare('SELECT 1 FROM keys LIMIT 1');
  const imported = db.prepare(
    `SELECT 1 FROM keys WHERE json_extract(record, '$.imported') = 1 LIMIT 1`,
  );
  const nextAccount = db.prepare(KEY_QUERIES.nextAccount);
  const inUse = db.prepare(KEY_QUERIES.inUse);
  const expiring = db.prepare(KEY_QUERIES.expiring);
  const insert = db.prepare(
    'INSERT INTO keys (id, hash, record) VALUES (?, ?, ?)',
  );
  const update = db.prepare(
    'UPDATE keys SET hash = ?, previous = ?, record = ? WHERE id = ?',
  );
  const listeners = new Set<() => void>();

  const find = (hash: string) =>
    parse(byHash.get(hash)) ?? parse(byPrevious.get(hash));
  const get = (id: string) => parse(byId.get(id));

  async function* read(
    query: KeyQuery = {},
  ): AsyncGenerator<readonly KeyRecord[]> {
    const { account, plan, newestFirst = false, after } = query;
    const part = db.prepare(KEY_QUERIES.page(query));
    let last = after ?? {
      id: '',
      createdAt: newestFirst ? Number.MAX_SAFE_INTEGER : -1,
    };
    const names = {
      ...(account !== undefined && { account }),
      ...(plan !== undefined && { plan }),
    };
    for (;;) {
      const records = part
        .all({ ...names, created: last.createdAt, id: last.id })
        .map((row) => parse(row)!);
      yield records;
      if (records.length < PAGE_SIZE) return;
      last = records.at(-1)!;
      await setImmediate();
    }
  }

  async function change(note: AuditNote, work: () => unknown) {
    const notify = () => {
      for (const listener of listeners) listener();
    };
    await make(note, work, notify);
  }

  function addInside(record: KeyRecord) {
    if (get(record.id)) throw new KeyTaken(`the key id ${record.id} is taken`);
    if (find(record.hash)) throw new KeyTaken('the hash of the key is taken');
    insert.run(record.id, record.hash, JSON.stringify(record));
  }

  return {
    find,
    get,
    findMany: (hashes) => hashes.map(find),
    read,
    async *readAccounts(accounts) {
      for (const account of accounts) yield* read({ account });
    },
    async *readExpiring(from, until) {
      let rows = expiring.all({ from, until, rowid: Number.MAX_SAFE_INTEGER });
      for (; rows.length > 0; await setImmediate()) {
        yield rows.map((row) => parse(row)!);
        const { expires, rowid } = rows.at(-1)!;
        rows = expiring.all({ from: expires!, until, rowid: rowid! });
      }
    },
    accounts(after, limit) {
      const names: string[] = [];
      for (let last = after; names.length < limit; last = names.at(-1)!) {
        const row = nextAccount.get(last);
        if (row === undefined) break;
        names.push(row.account as string);
      }
      return names;
    },
    async countKeys(plans) {
      const counts = new Map<string, number>();
      for (const plan of plans) {
        let count = 0;
        let part = { keys: 0, last: 0 as number | null };
        do {
          part = inUse.get(plan, part.last) as typeof part;
          count += part.keys;
          await setImmediate();
        } while (part.keys === COUNT_SIZE);
        counts.set(plan, count);
      }
      return counts;
    },
    isEmpty: () => any.get() === undefined,
    add: (record, note) => change(note, () => addInside(record)),
    addMany: (records, note) => change(note, () => records.forEach(addInside)),
    replace: (record, note) =>
      change(note, () => {
        const stored = get(record.id);
        if (!stored) throw new Error(`the key ${record.id} does not exist`);
        if (stored.version !== record.version - 1)
          throw new KeyConflict(`key ${record.id} was changed meanwhile`);
        const owner = find(record.hash);
        if (owner && owner.id !== record.id)
          throw new KeyTaken('the hash of the key is taken');
        update.run(
          record.hash,
          record.previous?.hash ?? null,
          JSON.stringify(record),
          record.id,
        );
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

const field = (name: keyof KeyRecord) => `json_extract(record, '$.${name}')`;

/** The indices in file.ts match these exact expressions. */
export const KEY_QUERIES = {
  /** Reads keys, those of an account, or those of a plan, after a cursor. */
  page({
    account,
    plan,
    newestFirst = false,
  }: Pick<KeyQuery, 'account' | 'plan' | 'newestFirst'>): string {
    const created = field('createdAt');
    const ofAccount =
      account === undefined ? '' : `${field('account')} = $account AND`;
    // An account has fewer keys than a plan: `+` keeps SQLite from the index of plans.
    const ofPlan =
      plan === undefined
        ? ''
        : `${account === undefined ? '' : '+'}${field('plan')} = $plan AND`;
    const [beyond, order] = newestFirst ? ['<', 'DESC'] : ['>', 'ASC'];
    // SQLite seeks in an index by a scalar comparison, not by a row-value comparison.
    return `SELECT record FROM keys WHERE ${ofAccount} ${ofPlan} ${created} ${beyond}= $created
     AND (${created} ${beyond} $created OR rowid ${beyond} (SELECT rowid FROM keys WHERE id = $id))
     ORDER BY ${created} ${order}, rowid ${order} LIMIT ${PAGE_SIZE}`;
  },
  nextAccount: `SELECT ${field('account')} AS account FROM keys WHERE ${field('account')} > ?
     ORDER BY ${field('account')} LIMIT 1`,
  inUse: `SELECT count(*) AS keys, max(number) AS last FROM (SELECT rowid AS number FROM keys
     WHERE ${field('plan')} = ? AND ${field('revokedAt')} IS NULL AND rowid > ? ORDER BY rowid LIMIT ${COUNT_SIZE})`,
  expiring: `SELECT record, ${field('expiresAt')} AS expires, rowid FROM keys
     WHERE ${field('expiresAt')} >= $from AND ${field('expiresAt')} <= $until AND ${field('revokedAt')} IS NULL
     AND (${field('expiresAt')} > $from OR rowid > $rowid)
     ORDER BY ${field('expiresAt')}, rowid LIMIT ${PAGE_SIZE}`,
};

/** SQLite's data_version changes whenever another connection commits. */
function watchOtherProcesses(
  db: DatabaseSync,
  changed: () => void,
): NodeJS.Timeout {
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
  return row === undefined
    ? null
    : readRecord((row as { record: string }).record);
}

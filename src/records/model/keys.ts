import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { hashesOf, type KeyRecord } from '../keys/key.ts';
import type { KeyQuery } from '../keys/store.ts';

/** Keys per read; one page takes about 2 ms. */
const PAGE_SIZE = 500;

/** The table of keys. Reads in parts, so that requests are served in between. */
export function keysIn(db: DatabaseSync) {
  const byHash = db.prepare('SELECT record FROM keys WHERE hash = ?');
  const byPrevious = db.prepare('SELECT record FROM keys WHERE previous = ?');
  const byId = db.prepare('SELECT record FROM keys WHERE id = ?');
  const any = db.prepare('SELECT 1 FROM keys LIMIT 1');
  const imported = db.prepare(
    `SELECT 1 FROM keys WHERE json_extract(record, '$.imported') = 1 LIMIT 1`,
  );
  const nextAccount = db.prepare(KEY_QUERIES.nextAccount);
  const inUse = db.prepare('SELECT keys FROM plan_keys WHERE plan = ?');
  const expiring = db.prepare(KEY_QUERIES.expiring);
  const write = db.prepare(
    `INSERT INTO keys (id, hash, previous, record) VALUES (?, ?, ?, ?) ON CONFLICT (id)
     DO UPDATE SET hash = excluded.hash, previous = excluded.previous, record = excluded.record`,
  );
  const free = db.prepare(
    'DELETE FROM keys WHERE (hash = $hash OR previous = $hash) AND id <> $id',
  );

  const find = (hash: string) =>
    parse(byHash.get(hash)) ?? parse(byPrevious.get(hash));

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

  return {
    /** By the hash of the current or previous secret. */
    find,
    get: (id: string) => parse(byId.get(id)),
    findMany: (hashes: readonly string[]) => hashes.map(find),
    read,
    async *readAccounts(accounts: readonly string[]) {
      for (const account of accounts) yield* read({ account });
    },
    async *readExpiring(from: number, until: number) {
      let rows = expiring.all({ from, until, rowid: Number.MAX_SAFE_INTEGER });
      for (; rows.length > 0; await setImmediate()) {
        yield rows.map((row) => parse(row)!);
        const { expires, rowid } = rows.at(-1)!;
        rows = expiring.all({ from: expires!, until, rowid: rowid! });
      }
    },
    accounts(after: string, limit: number) {
      const names: string[] = [];
      for (let last = after; names.length < limit; last = names.at(-1)!) {
        const row = nextAccount.get(last);
        if (row === undefined) break;
        names.push(row.account as string);
      }
      return names;
    },
    countKeys(plans: readonly string[]) {
      const count = (plan: string) =>
        (inUse.get(plan) as { keys: number } | undefined)?.keys ?? 0;
      return new Map(plans.map((plan) => [plan, count(plan)]));
    },
    isEmpty: () => any.get() === undefined,
    hasImported: () => imported.get() !== undefined,
    /** Adds or replaces a record. A key that had one of its hashes loses its row. */
    put(record: KeyRecord, text = JSON.stringify(record)) {
      const { id, hash, previous } = record;
      for (const hash of hashesOf(record)) free.run({ hash, id });
      write.run(id, hash, previous?.hash ?? null, text);
    },
  };
}

const field = (name: keyof KeyRecord) => `json_extract(record, '$.${name}')`;

/** The indices in tables.ts match these exact expressions. */
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
     AND (${created} ${beyond} $created OR id ${beyond} $id)
     ORDER BY ${created} ${order}, id ${order} LIMIT ${PAGE_SIZE}`;
  },
  nextAccount: `SELECT ${field('account')} AS account FROM keys WHERE ${field('account')} > ?
     ORDER BY ${field('account')} LIMIT 1`,
  expiring: `SELECT record, ${field('expiresAt')} AS expires, rowid FROM keys
     WHERE ${field('expiresAt')} >= $from AND ${field('expiresAt')} <= $until AND ${field('revokedAt')} IS NULL
     AND (${field('expiresAt')} > $from OR rowid > $rowid)
     ORDER BY ${field('expiresAt')}, rowid LIMIT ${PAGE_SIZE}`,
};

function parse(row: unknown): KeyRecord | null {
  return row === undefined
    ? null
    : (JSON.parse((row as { record: string }).record) as KeyRecord);
}

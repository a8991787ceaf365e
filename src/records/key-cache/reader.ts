import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { openDatabase } from '../../common/open-database.ts';
import type { KeyRecord } from '../keys/key.ts';
import type { KeyQuery, KeysAsOf } from '../keys/store.ts';
import {
  type Freshness,
  freshnessIn,
  KEY_CACHE_FILE,
  unpackKey,
} from './file.ts';

/** Milliseconds before the metadata is read again. */
const REREAD_INTERVAL = 1_000;
/** Rows per turn, so that requests are served in between. */
const ROWS_PER_TURN = 500;
const PAGE_SIZE = 100;

type KeyPosition = Pick<KeyRecord, 'id' | 'createdAt'>;

/**
 * Reads the key cache while another process may write it, and detects a new file within a second.
 * An unreadable file counts as missing.
 * `clock`: monotonic milliseconds.
 */
export function createKeyCacheReader(
  folder: string,
  failed: (error: unknown) => void,
  clock: () => number = () => performance.now(),
) {
  let open: ReturnType<typeof openAt> | null = null;
  let lastFreshness: Freshness | null = null;
  let lookAgainAt = Number.NEGATIVE_INFINITY;

  const file = join(folder, KEY_CACHE_FILE);

  /**
   * The record with one of its hashes, and when it was read from the backend; `null`: not cached.
   */
  function find(
    hash: string,
  ): { readonly record: KeyRecord; readonly at: number } | null {
    const row = read(({ byHash }) => byHash.get(hash) ?? null);
    return (
      row && {
        record: unpackKey(row.hash as string, row.record as string),
        at: row.at as number,
      }
    );
  }

  function close() {
    open?.db.close();
    open = null;
  }

  async function* records(): AsyncGenerator<KeyRecord> {
    for (let number: unknown = 0; ; await setImmediate()) {
      const rows = read(({ page }) => page.all(number as number)) ?? [];
      for (const { hash, record } of rows)
        yield unpackKey(hash as string, record as string);
      if (rows.length === 0) return;
      number = rows.at(-1)!.number;
    }
  }

  function read<T>(
    work: (opened: ReturnType<typeof openAt>) => T | null,
  ): T | null {
    try {
      const inode = statSync(file, { throwIfNoEntry: false })?.ino;
      if (open?.inode !== inode) close();
      if (inode === undefined) return null;
      open ??= openAt(file, inode);
      return work(open);
    } catch (error) {
      close();
      failed(error);
      return null;
    }
  }

  return {
    /** Metadata that is at most a second old; `null`: no cache. */
    get freshness(): Freshness | null {
      const now = clock();
      if (now < lookAgainAt) return lastFreshness;
      lookAgainAt = now + REREAD_INTERVAL;
      lastFreshness = read(({ db }) => freshnessIn(db));
      return lastFreshness;
    },
    find,
    /**
     * All keys. The cache has no index by age or id, because requests need neither, so both read all
     * rows.
     */
    all(asOf: number): KeysAsOf {
      return {
        asOf,
        async get(id) {
          for await (const record of records())
            if (record.id === id) return record;
          return null;
        },
        async *read({
          account,
          plan,
          newestFirst = false,
          after,
        }: KeyQuery = {}) {
          const direction = newestFirst ? -1 : 1;
          const compare = (one: KeyPosition, other: KeyPosition) =>
            direction * byAge(one, other);
          const places: (KeyPosition & Pick<KeyRecord, 'hash'>)[] = [];
          for await (const record of records()) {
            const { id, createdAt, hash } = record;
            if (account !== undefined && record.account !== account) continue;
            if (plan !== undefined && record.plan !== plan) continue;
            if (!after || compare({ id, createdAt }, after) > 0)
              places.push({ id, createdAt, hash });
          }
          places.sort(compare);
          for (let at = 0; at < places.length; at += PAGE_SIZE) {
            const found = places
              .slice(at, at + PAGE_SIZE)
              .map(({ hash }) => find(hash)?.record);
            yield found.filter((record) => record !== undefined);
            await setImmediate();
          }
        },
      };
    },
    close,
  };
}

export type KeyCacheReader = ReturnType<typeof createKeyCacheReader>;

function openAt(file: string, inode: number) {
  return openDatabase(file, { readOnly: true, timeout: 100 }, (db) => ({
    db,
    inode,
    byHash: db.prepare(
      'SELECT hash, at, record FROM keys WHERE hash = ?1 OR previous = ?1',
    ),
    page: db.prepare(
      `SELECT number, hash, record FROM keys WHERE number > ? ORDER BY number LIMIT ${ROWS_PER_TURN}`,
    ),
  }));
}

function byAge(one: KeyPosition, other: KeyPosition): number {
  return (
    one.createdAt - other.createdAt ||
    (one.id < other.id ? -1 : Number(one.id > other.id))
  );
}

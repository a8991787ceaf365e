import { setImmediate } from 'node:timers/promises';
import type { KeyRecord } from '../../../keys/key.ts';
import type { KeyQuery, KeysAsOf } from '../../../keys/store.ts';
import type { KeyCacheReader } from './reader.ts';

const PAGE_SIZE = 100;

type KeyPosition = Pick<KeyRecord, 'id' | 'createdAt'>;

/** The cache has no index by age or id, because requests need neither, so both read all rows in pages. */
export function cachedKeys(reader: Pick<KeyCacheReader, 'after' | 'find'>, asOf: number): KeysAsOf {
  async function* records(): AsyncGenerator<KeyRecord> {
    for (let number = 0; ; ) {
      const rows = reader.after(number);
      yield* rows.map(({ record }) => record);
      if (rows.length === 0) return;
      number = rows.at(-1)!.number;
      await setImmediate();
    }
  }

  return {
    asOf,
    async get(id) {
      for await (const record of records()) if (record.id === id) return record;
      return null;
    },
    async *read({ account, newestFirst = false, after }: KeyQuery = {}) {
      const direction = newestFirst ? -1 : 1;
      const compare = (one: KeyPosition, other: KeyPosition) => direction * byAge(one, other);
      const places: (KeyPosition & Pick<KeyRecord, 'hash'>)[] = [];
      for await (const { id, createdAt, hash, account: owner } of records()) {
        if (account !== undefined && owner !== account) continue;
        if (!after || compare({ id, createdAt }, after) > 0) places.push({ id, createdAt, hash });
      }
      places.sort(compare);
      for (let at = 0; at < places.length; at += PAGE_SIZE) {
        const found = places.slice(at, at + PAGE_SIZE).map(({ hash }) => reader.find(hash)?.record);
        yield found.filter((record) => record !== undefined);
        await setImmediate();
      }
    },
  };
}

function byAge(one: KeyPosition, other: KeyPosition): number {
  return one.createdAt - other.createdAt || (one.id < other.id ? -1 : Number(one.id > other.id));
}

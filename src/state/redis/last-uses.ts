import type { LastUseStore } from '../../keys/last-use-tracker.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';
import { withTimeout } from './timeouts.ts';

const BATCH = 1_000;

export function usesInRedis(redis: Connection): LastUseStore {
  return {
    async save(uses) {
      const all = [...uses];
      for (let at = 0; at < all.length; at += BATCH) {
        const members = all.slice(at, at + BATCH).flatMap(([id, time]) => [String(time), id]);
        await withTimeout(redis.zadd(keyOf.used, 'GT', ...members));
      }
    },
    async load(ids) {
      const found = new Map<string, number>();
      for (let at = 0; at < ids.length; at += BATCH) {
        const part = ids.slice(at, at + BATCH);
        const times = await withTimeout(redis.zmscore(keyOf.used, ...part));
        for (const [i, time] of times.entries()) if (time !== null) found.set(part[i]!, Number(time));
      }
      return found;
    },
  };
}

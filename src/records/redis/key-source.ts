import { Outage } from '../../common/errors/outage.ts';
import type { RedisSettings } from '../../config/config.ts';
import { walk } from '../../state/redis/bulk.ts';
import type { Connection } from '../../state/redis/client.ts';
import type { DataCheck } from '../../state/redis/data-checks.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import { checkShape, isInteger } from '../../state/redis/replies.ts';
import { withTimeout } from '../../state/redis/timeouts.ts';
import type { KeySource } from '../key-cache/synchronizer.ts';
import { keysAt, keysOf, lenient } from './key-records.ts';
import { tokensIn } from './records.ts';

/** Few enough not to delay requests. */
const PAGE = 100;

/** `isFit`: whether Redis has passed the startup checks. */
export function keySource(
  redis: Connection,
  settings: RedisSettings,
  isFit: () => boolean,
  data: DataCheck,
): KeySource {
  async function readIfFit<T>(work: () => Promise<T>): Promise<T> {
    if (!isFit())
      throw new Outage('state_unavailable', {
        cause: 'Redis has not been checked yet',
      });
    return withTimeout(work());
  }

  return {
    name: nameOf(settings),
    at: (hashes) => readIfFit(() => keysAt(redis, hashes, lenient)),
    async *pages() {
      const members = walk((cursor) =>
        readIfFit(() => redis.zscan(keyOf.apiKeys, cursor, 'COUNT', PAGE)),
      );
      for await (const found of members) {
        // Members alternate with scores.
        const ids = found.filter((_, i) => i % 2 === 0);
        for (let from = 0; from < ids.length; from += PAGE)
          yield await keysOf(redis, ids.slice(from, from + PAGE), lenient);
      }
      // The copy must keep its keys if Redis has lost its data.
      await readIfFit(() => data.confirm());
    },
    hasImported: async () =>
      (await readIfFit(() => data.lookUp(keyOf.imported))) !== null,
    gateways: () =>
      readIfFit(() =>
        checkShape(
          redis,
          'the number of gateways',
          redis.zcard(keyOf.gateways),
          isInteger,
        ),
      ),
    tokens: () => readIfFit(() => tokensIn(redis)),
  };
}

/** Identifies a Redis, without user and password. */
export function nameOf({ topology, url, master }: RedisSettings): string {
  const { host, pathname } = new URL(url);
  return JSON.stringify([
    topology,
    host,
    pathname.slice(1) || '0',
    topology === 'sentinel' ? master : null,
  ]);
}

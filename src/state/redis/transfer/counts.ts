import type { Counts } from '../../transfer/records.ts';
import { mastersOf, walk } from '../bulk.ts';
import type { Connection } from '../client.ts';
import { COUNTER_KEYS, keyOf } from '../key-names.ts';
import { withTimeout } from '../timeouts.ts';

const SCAN_COUNT = 1_000;

/** Scans all names. */
export async function countsIn(redis: Connection): Promise<Counts> {
  let counters = 0;
  for (const master of mastersOf(redis)) {
    for await (const names of walk((cursor) => master.scan(cursor, 'MATCH', COUNTER_KEYS, 'COUNT', SCAN_COUNT)))
      counters += names.length;
  }
  const [key, token, audit, ban, use] = await withTimeout(
    Promise.all([
      redis.zcard(keyOf.apiKeys),
      redis.hlen(keyOf.tokens),
      redis.llen(keyOf.audit),
      redis.llen(keyOf.banLog),
      redis.zcard(keyOf.used),
    ]),
  );
  return { key, token, audit, ban, ledger: counters, use };
}

import type { Counts } from '../../transfer/records.ts';
import { asked } from '../asking.ts';
import type { Connection } from '../client.ts';
import { keyOf, LEDGERS } from '../key-names.ts';
import { mastersOf, walk } from '../many.ts';

/** Names looked at in one step. */
const STEP = 1_000;

/** How much there is; walks through all names for the ledgers. */
export async function countsIn(redis: Connection): Promise<Counts> {
  let ledger = 0;
  for (const master of mastersOf(redis)) {
    for await (const names of walk((cursor) => master.scan(cursor, 'MATCH', LEDGERS, 'COUNT', STEP)))
      ledger += names.length;
  }
  const [key, token, audit, ban, use] = await asked(
    Promise.all([
      redis.zcard(keyOf.apiKeys),
      redis.hlen(keyOf.tokens),
      redis.llen(keyOf.audit),
      redis.llen(keyOf.banLog),
      redis.zcard(keyOf.used),
    ]),
  );
  return { key, token, audit, ban, ledger, use };
}

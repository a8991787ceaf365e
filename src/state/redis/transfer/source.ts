import type { RedisSettings } from '../../../config/config.ts';
import type { KeyRecord } from '../../../keys/key.ts';
import { newCounters } from '../../../limits/counters.ts';
import { Fingerprints } from '../../transfer/fingerprints.ts';
import {
  BATCH,
  type Batch,
  type Counts,
  type Source,
  type SubjectCounters,
} from '../../transfer/records.ts';
import { type LogName, readEntries } from '../audit-entries.ts';
import { countedSubjects, scriptOnAll, walk } from '../bulk.ts';
import { type Connection, connect, disconnect } from '../client.ts';
import { checkForCommand } from '../command-checks.ts';
import { keyOf } from '../key-names.ts';
import { keysOf, readWith } from '../key-records.ts';
import { kindOf, redisName } from '../open.ts';
import { tokensIn } from '../records.ts';
import { loadScript } from '../scripts.ts';
import { withTimeout } from '../timeouts.ts';
import { parseStoredCounters } from './stored-counters.ts';

const SCAN_COUNT = 1_000;

const COUNTERS_OF = loadScript('counters-n.lua');

/**
 * Concurrent changes may be missing; all other data is included. Throws RedisError after closing
 * the connection.
 */
export async function openRedisSource(settings: RedisSettings): Promise<Source> {
  const redis = await openToCopy(settings);
  return {
    name: redisName(settings),
    kind: kindOf(settings),
    isChecked: false,
    counts: () => countsIn(redis),
    async *read() {
      yield* recordsIn(redis);
      yield* countersIn(redis);
      yield* usesIn(redis);
    },
    close: () => disconnect(redis),
  };
}

/** Throws RedisError, or an error of `prepare`, after closing the connection. */
export function openToCopy(
  settings: RedisSettings,
  prepare?: (redis: Connection) => Promise<void>,
) {
  return connect(settings, async (redis) => {
    await checkForCommand(redis);
    await prepare?.(redis);
  });
}

/** Scans all names. */
export async function countsIn(redis: Connection): Promise<Counts> {
  let counters = 0;
  for await (const subjects of countedSubjects(redis)) counters += subjects.length;
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

export async function* recordsIn(redis: Connection): AsyncGenerator<Batch> {
  yield* keysIn(redis);
  yield { type: 'token', values: await withTimeout(tokensIn(redis)) };
  yield* entriesIn(redis, 'audit');
  yield* entriesIn(redis, 'bans');
}

/** Skips incomplete keys. */
async function* keysIn(redis: Connection): AsyncGenerator<Batch> {
  const met = new Fingerprints();
  const members = walk((cursor) => redis.zscan(keyOf.apiKeys, cursor, 'COUNT', SCAN_COUNT));
  for await (const found of members) {
    const ids = found.filter((id, i) => i % 2 === 0 && met.add(id));
    const values = await keysOf(redis, ids, recordOrId);
    if (values.length > 0) yield { type: 'key', values };
  }
}

/** Invalid JSON becomes a record with only an id, which is later skipped and reported. */
const recordOrId = readWith((_, id) => ({ id }) as KeyRecord);

export async function* entriesIn(
  redis: Connection,
  name: LogName,
): AsyncGenerator<Batch & { type: 'audit' | 'ban' }> {
  for (let from = 1, newest = from; from <= newest; ) {
    const part = await readEntries(redis, name, from, from + BATCH - 1);
    newest = part.newest;
    const values = part.entries;
    if (values.length > 0) yield { type: name === 'audit' ? 'audit' : 'ban', values };
    // Older entries may be dropped meanwhile.
    from = Math.max((values.at(-1)?.number ?? from + BATCH - 1) + 1, part.oldest);
  }
}

async function* countersIn(redis: Connection): AsyncGenerator<Batch & { type: 'ledger' }> {
  const met = new Fingerprints();
  for await (const subjects of countedSubjects(redis)) {
    // Braces in a subject change the slot of its key.
    const whole = subjects.filter((subject) => met.add(subject) && !/[{}]/.test(subject));
    const named = whole.map((subject) => ({ key: keyOf.counters(subject) }));
    const answers = await scriptOnAll(redis, COUNTERS_OF, named);
    const values: SubjectCounters[] = whole.flatMap((subject, i) => {
      const stored = parseStoredCounters(answers[i]);
      if (stored === null) return [];
      // Skipped and reported later.
      return [{ subject, counters: stored === 'foreign' ? newCounters([]) : stored.counters }];
    });
    if (values.length > 0) yield { type: 'ledger', values };
  }
}

async function* usesIn(redis: Connection): AsyncGenerator<Batch> {
  const met = new Fingerprints();
  for await (const found of walk((cursor) =>
    redis.zscan(keyOf.used, cursor, 'COUNT', SCAN_COUNT),
  )) {
    const values = found.flatMap((id, i) =>
      i % 2 === 0 && met.add(id) ? [{ id, at: Number(found[i + 1]) }] : [],
    );
    if (values.length > 0) yield { type: 'use', values };
  }
}

import { randomInt } from 'node:crypto';
import type { RedisSettings } from '../../config/config.ts';
import {
  addUpUsage,
  addUsage,
  hasUsageOfKeys,
  usageIn,
} from '../../ledger/moved-usage.ts';
import { newCounters, staleAt } from '../../limits/counters.ts';
import { indexBans } from '../../state/redis/ban-list.ts';
import {
  countedSubjects,
  mastersOf,
  scan,
  scriptOnAll,
} from '../../state/redis/bulk.ts';
import {
  type Connection,
  connect,
  disconnect,
} from '../../state/redis/client.ts';
import { createRedisState } from '../../state/redis/counters.ts';
import { markNewData } from '../../state/redis/data-mark.ts';
import {
  CHANNEL,
  EVERY_KEY,
  GATEWAY_TTL,
  keyOf,
} from '../../state/redis/key-names.ts';
import { holdLock, releaseLock, tryLock } from '../../state/redis/lock.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { EVERYTHING_CHANGED } from '../../state/redis/subscriber.ts';
import { allWithTimeout, withTimeout } from '../../state/redis/timeouts.ts';
import { removeUsage, usageInRedis } from '../../state/redis/usage.ts';
import { hashesOf, type KeyRecord } from '../keys/key.ts';
import type { LogName } from '../model/entries.ts';
import type { AuditDraft } from '../operators/audit-log.ts';
import { checkForCommand } from '../redis/command-checks.ts';
import { kindOf, redisName } from '../redis/open.ts';
import { numberOf } from '../redis/progress.ts';
import { usesInRedis } from '../redis/records.ts';
import { parsed, recordIn } from '../redis/texts.ts';
import { counterLine, countersIn } from './counter-line.ts';
import { createFingerprints } from './fingerprints.ts';
import {
  type Adders,
  addWith,
  BATCH,
  type Batch,
  type Counts,
  type Source,
  type Target,
  TransferError,
  type ValueOf,
} from './form.ts';
import { formatCounters, parseStoredCounters } from './redis-counters.ts';

const { head, keys, hashes, tokens } = keyOf.records;

const SCAN_COUNT = 1_000;
/** One import at a time. */
const LOCK = 'import';

const readCounters = loadScript('counters-n.lua');
const putCounters = loadScript('put-n.lua');

/**
 * Concurrent changes may be missing; all other data is included. Throws RedisError after closing
 * the connection.
 */
export async function openRedisSource(
  settings: RedisSettings,
): Promise<Source> {
  const redis = await connect(settings, async (redis) => {
    await checkForCommand(redis, settings);
  });
  return {
    name: redisName(settings),
    kind: kindOf(settings),
    isChecked: false,
    isStopped: !(await isUsed(redis)),
    counts: () => countsIn(redis),
    read: () => recordsIn(redis),
    close: () => disconnect(redis),
  };
}

/**
 * A Redis that no gateway uses, as a target. From the first record to the end of the import a mark
 * keeps gateways from starting on it; an import that finds the mark deletes what the unfinished one
 * has left. Throws RedisError and TransferError after closing the connection.
 */
export async function openRedisTarget(
  settings: RedisSettings,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Target> {
  const name = redisName(settings);
  const redis = await connect(settings, async (redis) => {
    await rejectGateways(redis, name);
    if (!dryRun) await beginAlone(redis, name);
    try {
      await checkForCommand(redis, settings);
    } catch (error) {
      if (!dryRun) await releaseLock(redis, LOCK);
      throw error;
    }
  });
  const adders = addersIn(redis);
  let isEmpty = true;

  /** Of an empty Redis, the list of bans is complete without a scan. */
  async function prepare() {
    isEmpty = false;
    await withTimeout(redis.set(keyOf.unfinishedImport, '1'));
    await withTimeout(markNewData(redis));
    await removeUsage(redis);
    await createRedisState(redis).bans();
  }

  return {
    name,
    isState: true,
    counts: () => countsIn(redis),
    hasUsageOfKeys: () => hasUsageOfKeys(usageInRedis(redis)),
    async add(batch) {
      await holdLock(redis, LOCK);
      if (isEmpty) await prepare();
      await addWith(adders, batch);
    },
    async finish(entry, { isCopy }) {
      if (isCopy) await addUpUsage(usageInRedis(redis), entry.at);
      const number = await withTimeout(redis.hincrby(head, 'audit', 1));
      await withTimeout(addEntry(redis, 'audit', number, entry));
      await withTimeout(redis.del(keyOf.unfinishedImport));
      // A gateway may have been silent for long.
      await withTimeout(redis.publish(CHANNEL, EVERYTHING_CHANGED));
    },
    async close() {
      if (!dryRun) await releaseLock(redis, LOCK);
      disconnect(redis);
    },
  };
}

/** Whether a gateway uses it, or did seconds ago. */
async function isUsed(redis: Connection): Promise<boolean> {
  const [seconds] = await withTimeout(redis.time());
  const alive = Number(seconds) * 1_000 - GATEWAY_TTL;
  return (await withTimeout(redis.zcount(keyOf.gateways, alive, '+inf'))) > 0;
}

async function rejectGateways(redis: Connection, name: string): Promise<void> {
  if (await isUsed(redis))
    throw new TransferError(
      `A gateway uses ${name}, or did seconds ago: nothing was changed. Stop all gateways first.`,
    );
}

async function beginAlone(redis: Connection, name: string): Promise<void> {
  if (!(await tryLock(redis, LOCK)))
    throw new TransferError(
      `Another import into ${name} runs, or was stopped seconds ago. Wait for its end.`,
    );
  if ((await withTimeout(redis.exists(keyOf.unfinishedImport))) === 1)
    await empty(redis);
}

/** Deletes the mark of the unfinished import last. */
async function empty(redis: Connection): Promise<void> {
  const kept: readonly string[] = [keyOf.unfinishedImport, keyOf.lock(LOCK)];
  for (const node of mastersOf(redis)) {
    const steps = scan((cursor) =>
      node.scan(cursor, 'MATCH', EVERY_KEY, 'COUNT', SCAN_COUNT),
    );
    for await (const names of steps) {
      const found = names.filter((name) => !kept.includes(name));
      await allWithTimeout(
        redis,
        found.map((name) => ['unlink', name]),
      );
      await holdLock(redis, LOCK);
    }
  }
  await withTimeout(redis.del(keyOf.unfinishedImport));
}

/** The second part of an id distinguishes entries with the same number. */
function addEntry(
  redis: Connection,
  log: LogName,
  number: number,
  entry: AuditDraft,
): Promise<unknown> {
  const id = `${number}-${randomInt(2 ** 47)}`;
  return redis.xadd(keyOf.records[log], id, 'entry', JSON.stringify(entry));
}

function addersIn(redis: Connection): Adders {
  /** An empty log keeps the numbers of its entries. */
  async function append(log: LogName, given: readonly ValueOf['audit'][]) {
    await withTimeout(
      Promise.all(
        given.map(({ number, ...entry }) =>
          addEntry(redis, log, number, entry),
        ),
      ),
    );
    await withTimeout(redis.hset(head, log, given.at(-1)!.number));
  }

  return {
    async key(records) {
      const owners = records.flatMap((record) =>
        hashesOf(record).flatMap((hash) => [hash, record.id]),
      );
      await withTimeout(redis.hset(hashes, ...owners));
      const texts = records.flatMap((record) => [
        record.id,
        JSON.stringify(record),
      ]);
      await withTimeout(redis.hset(keys, ...texts));
    },
    async token(given) {
      const fields = given.flatMap((token) => [
        token.name,
        JSON.stringify(token),
      ]);
      await withTimeout(redis.hset(tokens, ...fields));
    },
    audit: (entries) => append('audit', entries),
    ban: (entries) => append('bans', entries),
    async counters(lines) {
      const all = lines.map((line) => ({
        subject: line.subject,
        counters: countersIn(line),
      }));
      const commands = all.map(({ subject, counters }) => {
        const args = [staleAt(counters), ...formatCounters(counters)];
        return { key: keyOf.counters(subject), args };
      });
      await scriptOnAll(redis, putCounters, commands);
      const bans = all.map(({ subject, counters: { strikeState } }) => ({
        subject,
        until: strikeState?.bannedUntil ?? 0,
      }));
      await indexBans(
        redis,
        bans.filter(({ until }) => until > 0),
      );
    },
    use: (uses) =>
      usesInRedis(redis).save(new Map(uses.map(({ id, at }) => [id, at])), 0),
    usage: (values) => addUsage(usageInRedis(redis), values),
  };
}

/** Scans all names. */
async function countsIn(redis: Connection): Promise<Counts> {
  let counters = 0;
  for await (const subjects of countedSubjects(redis))
    counters += subjects.length;
  const [key, token, audit, ban, use, parts, sums] = await withTimeout(
    Promise.all([
      redis.hlen(keys),
      redis.hlen(tokens),
      redis.xlen(keyOf.records.audit),
      redis.xlen(keyOf.records.bans),
      redis.zcard(keyOf.used),
      redis.hlen(keyOf.usage.parts),
      redis.hlen(keyOf.usage.sizes),
    ]),
  );
  return { key, token, audit, ban, counters, use, usage: parts + sums };
}

async function* recordsIn(redis: Connection): AsyncGenerator<Batch> {
  const met = createFingerprints();
  const pages = scan((cursor) =>
    redis.hscan(keys, cursor, 'COUNT', SCAN_COUNT),
  );
  for await (const found of pages) {
    const values = found.flatMap((id, i) =>
      i % 2 === 0 && met.add(id) ? [recordOrId(id, found[i + 1]!)] : [],
    );
    yield { type: 'key', values };
  }
  const texts = await withTimeout(redis.hvals(tokens));
  const values = texts.map((text) => parsed(text) as ValueOf['token']);
  yield { type: 'token', values };
  for await (const values of entriesIn(redis, 'audit'))
    yield { type: 'audit', values };
  for await (const values of entriesIn(redis, 'bans'))
    yield { type: 'ban', values };
  for await (const values of counterLinesIn(redis))
    yield { type: 'counters', values };
  for await (const values of membersOf(redis, keyOf.used))
    yield { type: 'use', values };
  for await (const values of usageIn(usageInRedis(redis)))
    yield { type: 'usage', values };
}

/** The members of a sorted set of ids, with their scores, each once. */
async function* membersOf(
  redis: Connection,
  name: string,
): AsyncGenerator<ValueOf['use'][]> {
  const met = createFingerprints();
  const steps = scan((cursor) =>
    redis.zscan(name, cursor, 'COUNT', SCAN_COUNT),
  );
  for await (const found of steps)
    yield found.flatMap((id, i) =>
      i % 2 === 0 && met.add(id) ? [{ id, at: Number(found[i + 1]) }] : [],
    );
}

/** An invalid text becomes a record with only an id, which is left out and reported. */
const recordOrId = (id: string, text: string): KeyRecord =>
  recordIn(text) ?? ({ id } as KeyRecord);

async function* entriesIn(
  redis: Connection,
  log: LogName,
): AsyncGenerator<ValueOf['audit'][]> {
  for (let from = '-', isLast = false; !isLast; ) {
    const found = await withTimeout(
      redis.xrange(keyOf.records[log], from, '+', 'COUNT', BATCH),
    );
    yield found.map(([id, [, text]]) => ({
      ...(parsed(text!) as AuditDraft),
      number: numberOf(id),
    }));
    from = `(${found.at(-1)?.[0]}`;
    isLast = found.length < BATCH;
  }
}

async function* counterLinesIn(
  redis: Connection,
): AsyncGenerator<ValueOf['counters'][]> {
  const met = createFingerprints();
  for await (const subjects of countedSubjects(redis)) {
    // Braces in a subject change the slot of its key.
    const whole = subjects.filter(
      (subject) => met.add(subject) && !/[{}]/.test(subject),
    );
    const named = whole.map((subject) => ({ key: keyOf.counters(subject) }));
    const replies = await scriptOnAll(redis, readCounters, named);
    yield whole.flatMap((subject, i) => {
      const stored = parseStoredCounters(replies[i]);
      if (stored === null) return [];
      // Other data is left out and reported.
      return [
        counterLine(subject, stored === 'foreign' ? newCounters([]) : stored),
      ];
    });
  }
}

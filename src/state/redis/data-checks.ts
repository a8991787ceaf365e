import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { CountersError } from '../state.ts';
import { isPermissionError } from './error.ts';
import { keyOf } from './key-names.ts';
import { lookedUp } from './replies.ts';

/**
 * Milliseconds without the mark on one connection before the data counts as lost. Sentinels demote a restarted master
 * sooner.
 */
const LOST_AFTER = 30_000;

/** `null`: missing, and Redis has its data. */
export type LookUp = (name: string) => Promise<string | null>;

/** Distinguishes unknown keys from keys that Redis has lost, and reports a loss to `lost`. */
export interface DataCheck {
  /** Accepts the current data as complete. */
  learn(): Promise<void>;
  /** Throws CountersError if the text is missing and Redis may have lost its data. */
  readonly lookUp: LookUp;
  /** Throws CountersError if Redis may have lost its data. */
  confirm(): Promise<void>;
}

/**
 * A mark next to the keys. A Redis without its data lacks the mark, as does a lagging replica; a key missing there may
 * still exist.
 */
export function dataMark(redis: Redis, lost: () => void, clock = () => performance.now()): DataCheck {
  let known: string | null = null;
  let missingSince: number | null = null;
  redis.on('close', () => {
    missingSince = null;
  });

  async function learn(): Promise<void> {
    await redis.set(keyOf.dataMark, randomUUID(), 'NX');
    known = await redis.get(keyOf.dataMark);
    missingSince = null;
  }

  async function read(name: string) {
    // One connection, so that the same Redis replies to both.
    const [texts, role] = (await redis.pipeline().mget(name, keyOf.dataMark).role().exec()) ?? [];
    const failure = texts?.[0] ?? (isPermissionError(role?.[0]) ? null : role?.[0]);
    if (failure) throw failure;
    const [text, mark] = Array.isArray(texts?.[1]) ? texts[1] : [];
    const roleName = Array.isArray(role?.[1]) ? role[1][0] : null;
    return {
      text: await lookedUp(redis, text),
      mark: await lookedUp(redis, mark),
      isMaster: roleName === null || roleName === 'master',
    };
  }

  async function check(mark: string | null, isMaster: boolean): Promise<void> {
    rejectReplica(isMaster);
    if (mark !== null && mark === known) {
      missingSince = null;
      return;
    }
    if (known === null) return learn();
    missingSince ??= clock();
    rejectMissing(clock() - missingSince);
    lost();
    await learn();
  }

  return {
    learn,
    async lookUp(name) {
      const { text, mark, isMaster } = await read(name);
      if (text === null) await check(mark, isMaster);
      return text;
    },
    async confirm() {
      const { mark, isMaster } = await read(keyOf.dataMark);
      await check(mark, isMaster);
    },
  };
}

/**
 * Like `dataMark`, for each master: a missing key is unknown only if the master has the data of a known master. Redis
 * identifies data by `master_replid`. A promoted replica reports its former master's id in `master_replid2`, as does a
 * master that loaded its data after a restart. A master that starts empty reports none.
 */
export function clusterData(redis: Cluster, lost: () => void, clock = () => performance.now()): DataCheck {
  const known = new Set<string>();
  const unknownSince = new Map<string, number>();

  async function learn(): Promise<void> {
    for (const { id } of await masters()) known.add(id);
  }

  async function masters(): Promise<ShardData[]> {
    const asked = redis.nodes('master').map(async (node) => dataOf(await node.info('replication')));
    return await Promise.all(asked).catch((error: unknown) => {
      if (isPermissionError(error)) return [];
      throw error;
    });
  }

  /** Throws CountersError until an unknown id was unknown for `LOST_AFTER`. */
  async function check({ isMaster, id, before }: ShardData): Promise<void> {
    rejectReplica(isMaster);
    if (known.size === 0) await learn();
    if (!known.has(id) && !known.has(before)) {
      const since = unknownSince.get(id) ?? clock();
      unknownSince.set(id, since);
      rejectMissing(clock() - since);
      lost();
    }
    known.add(id);
    unknownSince.delete(id);
  }

  return {
    learn,
    async lookUp(name) {
      const text = await lookedUp(redis, redis.get(name));
      if (text !== null) return text;
      // One connection, so that the same master replies to both.
      const [again, replication] = (await redis.pipeline().get(name).info('replication').exec()) ?? [];
      const failure = isMigrating(again?.[0]) ? null : (again?.[0] ?? null);
      if (failure !== null) throw failure;
      const found = await lookedUp(redis, again?.[1] ?? null);
      if (found === null && !isPermissionError(replication?.[0])) {
        if (replication?.[0]) throw replication[0];
        await check(dataOf(replication?.[1]));
      }
      return found;
    },
    async confirm() {
      for (const data of await masters()) await check(data);
    },
  };
}

interface ShardData {
  readonly isMaster: boolean;
  readonly id: string;
  readonly before: string;
}

function dataOf(info: unknown): ShardData {
  const field = (name: string) => new RegExp(`^${name}:(\\w+)`, 'm').exec(String(info))?.[1] ?? '';
  return { isMaster: field('role') === 'master', id: field('master_replid'), before: field('master_replid2') };
}

/** The slot is migrating, and the first look-up was redirected to the new master. */
function isMigrating(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('ASK ');
}

function rejectReplica(isMaster: boolean): void {
  if (!isMaster) throw new CountersError('Redis is a replica: it may not have the newest keys');
}

function rejectMissing(duration: number): void {
  if (duration < LOST_AFTER)
    throw new CountersError('Redis may have come up without its data: keys that it does not have are answered 503');
}

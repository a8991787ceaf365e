import { randomUUID } from 'node:crypto';
import { Cluster, type Redis } from 'ioredis';
import { CountersError } from '../state.ts';
import type { Connection } from './client.ts';
import { isReplyError, messages } from './error.ts';
import { keyOf } from './key-names.ts';
import { lookedUp } from './replies.ts';

/**
 * Milliseconds without the mark on one connection before the data counts as lost. Sentinels demote
 * a restarted master sooner.
 */
const LOST_AFTER = 30_000;

/** Increases with every incompatible change of the data in Redis; its mark begins with it. */
export const DATA_FORMAT = 1;

/** Marks the data as that of this version, unless it is marked. Resolves with its mark. */
export async function markData(redis: Connection): Promise<string | null> {
  await redis.set(keyOf.dataMark, `${DATA_FORMAT} ${randomUUID()}`, 'NX');
  return redis.get(keyOf.dataMark);
}

/** An unmarked Redis that has one of them was written by another version. */
const RECORDS = [keyOf.apiKeys, keyOf.tokens, keyOf.audit, keyOf.banLog];

/** Why this version must not use the data in Redis, and what to do; `null`: it may. */
export async function otherFormat(redis: Connection): Promise<string | null> {
  const mark = await redis.get(keyOf.dataMark).catch((error: unknown) => {
    if (isReplyError(error) && /^WRONGTYPE/.test(messages(error))) return '';
    throw error;
  });
  if (mark !== null) return formatFault(mark);
  const found = await Promise.all(RECORDS.map((name) => redis.exists(name)));
  return found.includes(1) ? UNMARKED : null;
}

function formatFault(mark: string): string | null {
  const format = Number(/^(\d+) /.exec(mark)?.[1] ?? 0);
  if (format === DATA_FORMAT) return null;
  return format > DATA_FORMAT
    ? `the data in this Redis was written by a newer storegate (format ${format}): use that version`
    : UNMARKED;
}

const UNMARKED =
  'the data in this Redis was written by an unreleased storegate, or a part of it was lost: ' +
  'run "storegate state export FILE" with that version, ' +
  'and "storegate state import FILE" with this one and an empty Redis database';

/** `null`: missing, and Redis has its data. */
export type LookUp = (name: string) => Promise<string | null>;

/** Distinguishes unknown keys from keys that Redis has lost, and reports a loss to `lost`. */
export interface DataCheck {
  /** Accepts the current data as complete. */
  learn(): Promise<void>;
  /**
   * Throws CountersError if the text is missing and Redis may have lost its data, or NotReported.
   */
  readonly lookUp: LookUp;
  /** Throws CountersError if Redis may have lost its data. */
  confirm(): Promise<void>;
  /** Reasons why nothing can be confirmed, whatever Redis has. */
  warnings(): Promise<string[]>;
}

export function dataCheckOf(redis: Connection, lost: () => void): DataCheck {
  return redis instanceof Cluster
    ? clusterData(redis, lost)
    : dataMark(redis, lost);
}

/** Redis does not report what a check needs, so nothing can be confirmed, whatever Redis has. */
export class NotReported extends CountersError {
  override name = 'NotReported';

  constructor() {
    super(NOT_REPORTED);
  }
}

const NOT_REPORTED =
  'Redis does not report whether it is a master: keys that it does not have are answered 503. Give its user +info';

/** INFO first, because the recommended rights include it; some services allow ROLE only. */
const ROLE_COMMANDS = [['info', 'replication'], ['role']];

/**
 * A mark next to the keys. A Redis without its data lacks the mark, as does a lagging replica; a
 * key missing there may still exist.
 */
export function dataMark(
  redis: Redis,
  lost: () => void,
  clock = () => performance.now(),
): DataCheck {
  let known: string | null = null;
  let missingSince: number | null = null;
  redis.on('close', () => {
    missingSince = null;
  });

  async function learn() {
    const mark = await markData(redis);
    // Data of another version may come up in its place.
    const fault = mark === null ? null : formatFault(mark);
    if (fault !== null) throw new CountersError(fault);
    known = mark;
    missingSince = null;
  }

  async function read(name: string) {
    let text: string | null = null;
    let mark: string | null = null;
    let role: string | null = null;
    for (const command of ROLE_COMMANDS) {
      // One connection, so that the same Redis replies to both.
      const commands = [['mget', name, keyOf.dataMark], command];
      const [texts, report] = (await redis.pipeline(commands).exec()) ?? [];
      if (texts?.[0]) throw texts[0];
      const found = Array.isArray(texts?.[1]) ? texts[1] : [];
      text = await lookedUp(redis, found[0]);
      mark = await lookedUp(redis, found[1]);
      role = roleIn(reported(report));
      if (role !== null) break;
    }
    return { text, mark, role };
  }

  async function check(mark: string | null, role: string | null) {
    rejectUnlessMaster(role);
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
      const { text, mark, role } = await read(name);
      if (text === null) await check(mark, role);
      return text;
    },
    async confirm() {
      const { mark, role } = await read(keyOf.dataMark);
      await check(mark, role);
    },
    async warnings() {
      const { role } = await read(keyOf.dataMark);
      return role === null ? [NOT_REPORTED] : [];
    },
  };
}

/**
 * Like `dataMark`, for each master: a missing key is unknown only if the master has the data of a
 * known master. Redis identifies data by `master_replid`. A promoted replica reports its former
 * master's id in `master_replid2`, as does a master that loaded its data after a restart. A master
 * that starts empty reports none.
 */
export function clusterData(
  redis: Cluster,
  lost: () => void,
  clock = () => performance.now(),
): DataCheck {
  const known = new Set<string>();
  const unknownSince = new Map<string, number>();

  async function learn() {
    for (const { id } of await masters()) if (id !== null) known.add(id);
  }

  async function masters(): Promise<ShardData[]> {
    const asked = redis
      .nodes('master')
      .map((node) => node.info('replication').catch(nullIfRefused));
    return (await Promise.all(asked)).map(dataOf);
  }

  /** Throws CountersError until an unknown id was unknown for `LOST_AFTER`. */
  async function check({ role, id, before }: ShardData) {
    rejectUnlessMaster(role);
    if (id === null) throw new NotReported();
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
      const [again, report] =
        (await redis.pipeline().get(name).info('replication').exec()) ?? [];
      const failure = isMigrating(again?.[0]) ? null : (again?.[0] ?? null);
      if (failure !== null) throw failure;
      const found = await lookedUp(redis, again?.[1] ?? null);
      if (found === null) await check(dataOf(reported(report)));
      return found;
    },
    async confirm() {
      for (const data of await masters()) await check(data);
    },
    async warnings() {
      return (await masters()).some(({ id }) => id === null)
        ? [NOT_REPORTED]
        : [];
    },
  };
}

/** `null`: not reported. */
interface ShardData {
  readonly role: string | null;
  readonly id: string | null;
  /** '': none. */
  readonly before: string;
}

function dataOf(info: unknown): ShardData {
  const before = fieldIn(info, 'master_replid2') ?? '';
  return { role: roleIn(info), id: fieldIn(info, 'master_replid'), before };
}

/** `report`: the reply to INFO or ROLE. */
function roleIn(report: unknown): string | null {
  return Array.isArray(report) ? String(report[0]) : fieldIn(report, 'role');
}

function fieldIn(info: unknown, name: string): string | null {
  return new RegExp(`^${name}:(\\w+)`, 'm').exec(String(info))?.[1] ?? null;
}

/** `null` if Redis refuses the command. Throws any other error. */
function reported(
  [error, report]: readonly [Error | null, unknown] = [null, null],
): unknown {
  return error === null ? report : nullIfRefused(error);
}

function nullIfRefused(error: unknown): null {
  if (isReplyError(error)) return null;
  throw error;
}

/** The slot is migrating, and the first look-up was redirected to the new master. */
function isMigrating(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('ASK ');
}

/** A Redis that does not report its role may be a replica. */
function rejectUnlessMaster(role: string | null): void {
  if (role === null) throw new NotReported();
  if (role !== 'master')
    throw new CountersError(
      'Redis is a replica: it may not have the newest keys',
    );
}

function rejectMissing(duration: number): void {
  if (duration < LOST_AFTER)
    throw new CountersError(
      'Redis may have come up without its data: keys that it does not have are answered 503',
    );
}

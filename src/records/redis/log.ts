import { randomInt } from 'node:crypto';
import { Outage } from '../../common/errors/outage.ts';
import type { AuditSettings } from '../../config/config.ts';
import type { Connection } from '../../state/redis/client.ts';
import { CHANNEL, keyOf } from '../../state/redis/key-names.ts';
import { limitLifetime } from '../../state/redis/lifetimes.ts';
import { lookedUp, UnexpectedReply } from '../../state/redis/replies.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { withTimeout } from '../../state/redis/timeouts.ts';
import { CountersError } from '../../state/state.ts';
import { KeyConflict, KeyTaken } from '../keys/store.ts';
import { type Changes, type Log, WrongToken } from '../log.ts';
import {
  type AuditNote,
  IDEMPOTENCY_LIFETIME,
  IdempotencyConflict,
  type IdempotentResult,
  isOfBans,
} from '../operators/audit-log.ts';
import { type Epoch, missing, orReplica } from './epoch.ts';

const appendEntry = loadScript('append-7.lua');

/** A longer step would delay requests. */
const DROP_BATCH = 1_000;
/** The second part of the id of an entry distinguishes entries with the same number. */
const MAX_PART = 2 ** 47;

const { head, keys, hashes, tokens, audit, bans, result } = keyOf.records;

interface RedisLogOptions {
  readonly epoch: Epoch;
  readonly audit: AuditSettings;
  /** Resolves when this process reads the entry with this number of the audit log. */
  readonly applied: (number: number) => Promise<void>;
}

/** An entry, its changes and its result are one step of a script, in one slot of a Cluster. */
export function logInRedis(
  redis: Connection,
  { epoch, audit: bounds, applied }: RedisLogOptions,
): Log {
  async function run(
    log: 'audit' | 'bans',
    { entry, idempotent }: AuditNote,
    changes: Changes,
  ): Promise<unknown> {
    const isOfLog = log === 'bans' || isOfBans(entry);
    const args = [
      await epoch.known(),
      CHANNEL,
      JSON.stringify(entry),
      randomInt(MAX_PART),
      idempotent ? JSON.stringify(idempotent) : '',
      IDEMPOTENCY_LIFETIME,
      log === 'audit' ? bounds.maxEntries : '',
      isOfLog ? bounds.bans.maxEntries : '',
      bounds.bans.maxAge,
      DROP_BATCH,
      ...changesOf(changes),
    ];
    const call = result(idempotent?.name ?? '');
    const names = [head, keys, hashes, tokens, audit, bans, call];
    return await orReplica(withTimeout(appendEntry(redis, names, args)));
  }

  return {
    async append(log, note, changes = {}) {
      const reply = await run(log, note, changes);
      if (typeof reply === 'string') throw refusalOf(reply, changes);
      if (!Number.isSafeInteger(reply)) throw new UnexpectedReply('append');
      if (log === 'audit') await applied(reply as number);
    },
    async resultOf(name) {
      const text = await withTimeout(lookedUp(redis, redis.get(result(name))));
      if (text === null) return null;
      await limitLifetime(redis, result(name), IDEMPOTENCY_LIFETIME);
      return JSON.parse(text) as IdempotentResult;
    },
    async forget(name) {
      await withTimeout(redis.del(result(name)));
    },
  };
}

function changesOf({
  added = [],
  replaced,
  tokenAdded,
  tokenRemoved,
}: Changes): (string | number)[] {
  const records = replaced ? [replaced] : added;
  const args = records.flatMap((record) => [
    record.id,
    replaced ? record.version - 1 : '',
    record.hash,
    record.previous?.hash ?? '',
    JSON.stringify(record),
  ]);
  if (tokenAdded)
    args.push(tokenAdded.name, 'token', JSON.stringify(tokenAdded));
  if (tokenRemoved !== undefined) args.push(tokenRemoved, 'token', '');
  return args;
}

/** Why a script has changed nothing. */
function refusalOf(
  reply: string,
  { replaced, tokenAdded, tokenRemoved }: Changes,
): Error {
  const id = replaced?.id;
  switch (reply) {
    case 'epoch':
      return missing();
    case 'again':
      return new IdempotencyConflict();
    case 'taken':
      return new KeyTaken('the id or hash of a key is taken');
    case 'unknown':
      return new KeyConflict(`the key ${id} does not exist`);
    case 'changed':
      return new KeyConflict(`key ${id} was changed meanwhile`);
    case 'broken':
      return brokenRecord(fieldOf(id!));
    case 'token':
      return new WrongToken(tokenAdded?.name ?? tokenRemoved);
    default:
      return new UnexpectedReply('append');
  }
}

/** The record of a key, for people. */
export function fieldOf(id: string): string {
  return `the field ${id} of ${keys}`;
}

/** An Outage caused by a CountersError. */
export function brokenRecord(place: string): Outage {
  const cause = new CountersError(`${place} is not valid: delete it`);
  return new Outage('state_unavailable', { cause });
}

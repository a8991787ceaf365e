import { Cluster } from 'ioredis';
import { reasonOf } from '../../observe/log-table.ts';
import type { Shards } from '../shared/backend.ts';
import { type Connection, lastErrorOf } from './client.ts';
import { messages } from './connection-errors.ts';
import { keyOf, PROBE_TTL } from './key-names.ts';
import { checkShape } from './shapes.ts';
import { slotOf } from './slots.ts';

/** Parts of Redis that fail apart: one Redis is one shard, each master of a Cluster is one. */
export function shardsOf(redis: Connection): Shards {
  return {
    shardOf: (name) => (redis instanceof Cluster ? (redis.slots[slotOf(name)]?.[0] ?? '') : ''),
    /** A write, because a Redis that only reads is of no use. It goes where the name is now. */
    probe(name) {
      refreshTopology(redis);
      return checkShape(redis, 'a probe', redis.set(keyOf.probe(name), '', 'PX', PROBE_TTL), isDone);
    },
    /** That nothing is connected says less than why. */
    reasonOf(error) {
      if (!/isn't writeable|isn't ready|Connection is closed/.test(messages(error))) return error;
      return new Error('not connected to Redis', { cause: lastErrorOf(redis) ?? 'the connection was closed' });
    },
  };
}

/** Why a call failed, as one text in our words. */
export function reasonText(redis: Connection, error: unknown): string {
  const reason = shardsOf(redis).reasonOf(error);
  return reason === error ? messages(error) : reasonOf(reason);
}

const isDone = (answer: unknown): answer is 'OK' => answer === 'OK';

/** Finds out which master serves which slot now, for the next commands: after a failover the old one does not answer. */
function refreshTopology(redis: Connection): void {
  if (redis instanceof Cluster && redis.status === 'ready') redis.refreshSlotsCache();
}

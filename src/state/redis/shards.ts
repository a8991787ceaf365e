import { Cluster } from 'ioredis';
import { reasonOf } from '../../observe/log-table.ts';
import type { Shards } from '../shared/remote-state.ts';
import { type Connection, lastErrorOf } from './client.ts';
import { messages } from './error.ts';
import { keyOf, PROBE_TTL } from './key-names.ts';
import { checkShape } from './replies.ts';
import { loadScript } from './scripts.ts';

const writeProbe = loadScript('probe-1.lua');

const SLOTS = 16_384;

/** CRC-16/XMODEM, as in the Redis Cluster specification. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++)
    crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** A single Redis, or each master of a Cluster: they fail independently. */
export function shardsOf(redis: Connection): Shards {
  return {
    shardOf: (name) =>
      redis instanceof Cluster ? (redis.slots[slotOf(name)]?.[0] ?? '') : '',
    probe(name) {
      // After a failover the old master does not respond.
      if (redis instanceof Cluster && redis.status === 'ready')
        redis.refreshSlotsCache();
      return checkShape(
        redis,
        'a probe',
        writeProbe(redis, [keyOf.probe(name)], [PROBE_TTL]),
        isDone,
      );
    },
    reasonOf(error) {
      if (
        !/isn't writeable|isn't ready|Connection is closed|max retries/.test(
          messages(error),
        )
      )
        return error;
      return new Error('not connected to Redis', {
        cause: lastErrorOf(redis) ?? 'the connection was closed',
      });
    },
  };
}

export function reasonText(redis: Connection, error: unknown): string {
  const reason = shardsOf(redis).reasonOf(error);
  return reason === error ? messages(error) : reasonOf(reason);
}

const isDone = (reply: unknown): reply is 1 => reply === 1;

export function slotOf(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag))
    crc = ((crc << 8) & 0xffff) ^ TABLE[((crc >> 8) ^ byte) & 0xff]!;
  return crc % SLOTS;
}

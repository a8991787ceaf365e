import { Cluster } from 'ioredis';
import type { RedisSettings } from '../../config/config.ts';
import { Outage } from '../../errors/outage.ts';
import { type KeyRecord, readRecord } from '../../keys/key.ts';
import type { KeySource } from '../shared/key-copy/standing.ts';
import { asked } from './asking.ts';
import type { Connection } from './client.ts';
import type { DataCheck } from './data-mark.ts';
import { keyOf } from './key-names.ts';
import { ownsHash } from './keystore.ts';
import { isInteger, shaped } from './shapes.ts';
import { tokensIn } from './tokens.ts';

/** Keys read at once: what they cost the event loop must not be felt by requests. */
const PAGE = 100;

export interface KeySourceOptions {
  /** Whether Redis has passed the checks of a start. */
  readonly isFit: () => boolean;
  readonly data: Pick<DataCheck, 'lookUp' | 'confirm'>;
}

/** All keys in Redis, for the copy of them. */
export function keySource(redis: Connection, settings: RedisSettings, { isFit, data }: KeySourceOptions): KeySource {
  async function askedIfFit<T>(work: () => Promise<T>): Promise<T> {
    if (!isFit()) throw new Outage('state_unavailable', { cause: 'Redis has not been checked yet' });
    return asked(work());
  }

  const count = (what: string, work: () => Promise<number>) => askedIfFit(() => shaped(redis, what, work(), isInteger));
  const texts = (names: readonly string[]) => askedIfFit(() => getAll(redis, names));

  async function at(hashes: readonly string[]): Promise<(KeyRecord | null)[]> {
    const found = (await texts(hashes.map(keyOf.apiKey))).map(recordIn);
    return found.map((record, i) => (record && ownsHash(record, hashes[i]!) ? record : null));
  }

  async function recordsOf(ids: readonly string[]): Promise<KeyRecord[]> {
    const hashes = await texts(ids.map(keyOf.apiKeyId));
    const known = ids.map((id, i) => ({ id, hash: hashes[i] ?? null })).filter(({ hash }) => hash !== null);
    const records = await at(known.map(({ hash }) => hash!));
    // An id whose key was never finished may point to a hash that became another key's.
    return records.filter((record, i): record is KeyRecord => record !== null && record.id === known[i]!.id);
  }

  return {
    name: nameOf(settings),
    at,
    async *pages() {
      for (let cursor = '0', begun = false; !begun || cursor !== '0'; begun = true) {
        const [next, members] = await askedIfFit(() => redis.zscan(keyOf.apiKeys, cursor, 'COUNT', PAGE));
        cursor = next;
        // Each member comes with its score.
        const ids = members.filter((_, i) => i % 2 === 0);
        for (let from = 0; from < ids.length; from += PAGE) yield await recordsOf(ids.slice(from, from + PAGE));
      }
      // The copy must not lose the keys that a Redis without its data does not have.
      await askedIfFit(() => data.confirm());
    },
    hasImported: async () => (await askedIfFit(() => data.lookUp(keyOf.imported))) !== null,
    gateways: () => count('the number of gateways', () => redis.zcard(keyOf.gateways)),
    tokens: () => askedIfFit(() => tokensIn(redis)),
  };
}

/** In a Cluster each name may be somewhere else. */
function getAll(redis: Connection, names: readonly string[]): Promise<(string | null)[]> {
  if (names.length === 0) return Promise.resolve([]);
  return redis instanceof Cluster ? Promise.all(names.map((name) => redis.get(name))) : redis.mget(...names);
}

/** What is no record makes no key usable, here as in Redis. */
function recordIn(text: string | null): KeyRecord | null {
  try {
    return text === null ? null : readRecord(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Where Redis is, without user and password: names the backend whose keys a copy has. */
export function nameOf({ topology, url, master }: RedisSettings): string {
  const { host, pathname } = new URL(url);
  return JSON.stringify([topology, host, pathname.slice(1) || '0', topology === 'sentinel' ? master : null]);
}

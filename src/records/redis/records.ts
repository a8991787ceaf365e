import { Outage } from '../../common/errors/outage.ts';
import { SECOND } from '../../common/time.ts';
import type { AuditSettings } from '../../config/config.ts';
import type { Connection } from '../../state/redis/client.ts';
import { keyOf, RECORDS_SLOT } from '../../state/redis/key-names.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { withTimeout } from '../../state/redis/timeouts.ts';
import type { CircuitBreakers } from '../../state/shared/circuit-breakers.ts';
import type { LastUseStore } from '../keys/last-use-tracker.ts';
import type { KeyStore } from '../keys/store.ts';
import { recordsOf } from '../records.ts';
import type { Records } from '../storage.ts';
import type { Epoch } from './epoch.ts';
import { logInRedis } from './log.ts';
import { lookUpIn } from './look-up.ts';
import type { RecordsCopy } from './records-copy.ts';

/** Last uses per command. */
const USES_BATCH = 1_000;
/**
 * Milliseconds for a key that the copy does not have. Without a reply its request fails with 503.
 */
const LOOK_UP_TIMEOUT = 1_000;
/** Milliseconds since the last confirmation within which the copy knows what it does not have. */
const CONFIRMED_FOR = 10 * SECOND;

const noteUses = loadScript('used-1.lua');

interface RecordsInRedisOptions {
  readonly copy: RecordsCopy;
  readonly epoch: Epoch;
  readonly breakers: CircuitBreakers;
  readonly audit: AuditSettings;
  /** Whether Redis has passed the checks of a start. */
  readonly isFit: () => boolean;
}

/** Changes are entries of the log in Redis, and questions are asked of the copy. */
export function recordsInRedis(
  redis: Connection,
  options: RecordsInRedisOptions,
): Records {
  const { copy, epoch, audit } = options;
  const records = recordsOf({
    log: logInRedis(redis, {
      epoch,
      audit,
      applied: (number) => copy.reached(number),
    }),
    model: () => copy.confirm(),
    lookUp: lookUpOf(redis, options),
    watch: (changed) => copy.watch(changed),
    uses: usesInRedis(redis),
  });
  return {
    ...records,
    tokens: {
      ...records.tokens,
      /** During an outage those of the copy: operators need their tokens most then. */
      async list() {
        try {
          return (await copy.confirmTokens()).list();
        } catch (error) {
          const copied = error instanceof Outage ? copy.usable : null;
          if (copied === null || !copy.isWhole) throw error;
          return copied.tokens.list();
        }
      },
    },
  };
}

/** A key that the copy does not have is asked of Redis: it may be new. */
function lookUpOf(
  redis: Connection,
  { copy, epoch, breakers, isFit }: RecordsInRedisOptions,
): Pick<KeyStore, 'find' | 'get' | 'findMany' | 'hasImported'> {
  const lookUp = lookUpIn(redis, epoch);

  async function ask(hash: string) {
    if (!isFit())
      throw new Outage('state_unavailable', { cause: 'Redis is down' });
    const breaker = breakers.of(RECORDS_SLOT);
    try {
      const pending = lookUp('hash', [hash]);
      const [found] = await withTimeout(pending, LOOK_UP_TIMEOUT);
      breaker.recordSuccess();
      return found!;
    } catch (error) {
      if (error instanceof Outage) breakers.recordFailure(breaker, error);
      throw error;
    }
  }

  return {
    find: (hash) => copy.find(hash) ?? ask(hash),
    get: async (id) => (await lookUp('id', [id]))[0]!,
    findMany: (hashes) => lookUp('hash', hashes),
    hasImported() {
      if (!copy.isWhole) return true;
      if (copy.lastKnown!.keys.hasImported()) return true;
      // The first import may be newer.
      if (copy.age > CONFIRMED_FOR)
        throw new Outage('state_unavailable', { cause: 'Redis is down' });
      return false;
    },
  };
}

export function usesInRedis(redis: Connection): LastUseStore {
  return {
    /** The clock of Redis decides which stored uses lie in the future. */
    async save(uses) {
      const all = [...uses];
      for (let at = 0; at < all.length; at += USES_BATCH) {
        const members = all
          .slice(at, at + USES_BATCH)
          .flatMap(([id, time]) => [String(time), id]);
        await withTimeout(noteUses(redis, [keyOf.used], members));
      }
    },
    async load(ids) {
      const found = new Map<string, number>();
      for (let at = 0; at < ids.length; at += USES_BATCH) {
        const part = ids.slice(at, at + USES_BATCH);
        const times = await withTimeout(redis.zmscore(keyOf.used, ...part));
        for (const [i, time] of times.entries())
          if (time !== null) found.set(part[i]!, Number(time));
      }
      return found;
    },
  };
}

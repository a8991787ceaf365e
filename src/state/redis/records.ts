import type { LastUseStore } from '../../keys/uses.ts';
import type { TokenRecord, TokenStore } from '../../operators/tokens.ts';
import type { Records } from '../storage.ts';
import { asked } from './asking.ts';
import { AuditedChanges, auditLogInRedis } from './audit-log.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';
import { applyChange, type KeyChange, type KeysInRedisOptions, keysInRedis } from './keystore.ts';

/** Times read or written in one command. */
const BATCH = 1_000;

/** What can be made again, should a call have died half-way; `null`: what is kept elsewhere. */
type Change = KeyChange | { readonly token: TokenRecord } | { readonly ended: string } | null;

/** What people manage, in Redis. */
export function recordsInRedis(redis: Connection, options: KeysInRedisOptions): Records {
  const auditedChanges = new AuditedChanges<Change>(redis, async (change) => {
    if (change === null) return;
    if ('token' in change) await addToken(redis, change.token);
    else if ('ended' in change) await asked(redis.hdel(keyOf.tokens, change.ended));
    else await applyChange(redis, change);
  });
  return {
    keys: keysInRedis(redis, auditedChanges, options),
    auditLog: auditLogInRedis(redis, auditedChanges),
    tokens: tokensInRedis(redis, auditedChanges),
    uses: usesInRedis(redis),
  };
}

function tokensInRedis(redis: Connection, auditedChanges: AuditedChanges<Change>): TokenStore {
  return {
    async list() {
      const texts = Object.values(await asked(redis.hgetall(keyOf.tokens)));
      return texts.map((text) => JSON.parse(text) as TokenRecord).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async add(record, note) {
      if ((await asked(redis.hexists(keyOf.tokens, record.name))) === 1) return false;
      try {
        await auditedChanges.make(note, { token: record });
        return true;
      } catch (error) {
        if (error instanceof NameTaken) return false;
        throw error;
      }
    },
    async remove(name, note) {
      if ((await asked(redis.hexists(keyOf.tokens, name))) === 0) return false;
      await auditedChanges.make(note, { ended: name });
      return true;
    },
  };
}

/** Another token of this name was faster. */
class NameTaken extends Error {}

async function addToken(redis: Connection, record: TokenRecord): Promise<void> {
  const text = JSON.stringify(record);
  if ((await asked(redis.hsetnx(keyOf.tokens, record.name, text))) === 1) return;
  if ((await asked(redis.hget(keyOf.tokens, record.name))) !== text) throw new NameTaken(record.name);
}

function usesInRedis(redis: Connection): LastUseStore {
  return {
    async save(uses) {
      const all = [...uses];
      for (let at = 0; at < all.length; at += BATCH) {
        const members = all.slice(at, at + BATCH).flatMap(([id, time]) => [String(time), id]);
        await asked(redis.zadd(keyOf.used, 'GT', ...members));
      }
    },
    async load(ids) {
      const found = new Map<string, number>();
      for (let at = 0; at < ids.length; at += BATCH) {
        const part = ids.slice(at, at + BATCH);
        const times = await asked(redis.zmscore(keyOf.used, ...part));
        for (const [i, time] of times.entries()) if (time !== null) found.set(part[i]!, Number(time));
      }
      return found;
    },
  };
}

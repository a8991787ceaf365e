import type { AuditSettings } from '../../config/config.ts';
import type { Connection } from '../../state/redis/client.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import { checkShape, isHash } from '../../state/redis/replies.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { withTimeout } from '../../state/redis/timeouts.ts';
import type { LastUseStore } from '../keys/last-use-tracker.ts';
import {
  type AuditEntry,
  type AuditLog,
  type AuditNote,
  type AuditQuery,
  isAbout,
} from '../operators/audit-log.ts';
import type { TokenRecord, TokenStore } from '../operators/tokens.ts';
import type { Records } from '../storage.ts';
import { type AuditEntries, auditEntriesIn } from './audit-entries.ts';
import { type AuditedChanges, auditedChangesIn } from './audited-changes.ts';
import {
  applyKeyChange,
  applyNewKeys,
  type KeyChange,
  type NewKeys,
} from './key-change.ts';
import { type KeysInRedisOptions, keysInRedis } from './keystore.ts';

/** Audit entries per read, and last uses per command. */
const PAGE_SIZE = 500;
const USES_BATCH = 1_000;

const noteUses = loadScript('used-1.lua');

type TokenChange = { readonly token: TokenRecord } | { readonly ended: string };

class WrongName extends Error {}

/** `null`: a change that is stored elsewhere. */
type Change = KeyChange | NewKeys | TokenChange | null;

interface RecordsInRedisOptions extends KeysInRedisOptions {
  readonly audit: AuditSettings;
}

export function recordsInRedis(
  redis: Connection,
  { audit, ...options }: RecordsInRedisOptions,
): Records {
  const entries = auditEntriesIn(redis, audit);
  const banEntries = auditEntriesIn(redis, audit, 'bans');
  const auditedChanges = auditedChangesIn<Change>(
    redis,
    entries,
    async (change) => {
      if (change === null) return;
      if ('records' in change) await applyNewKeys(redis, change);
      else if ('record' in change) await applyKeyChange(redis, change);
      else await applyTokenChange(redis, change);
    },
  );
  return {
    keys: keysInRedis(redis, auditedChanges, options),
    auditLog: auditLogInRedis(entries, auditedChanges),
    banLog: auditLogInRedis(
      banEntries,
      auditedChangesIn<null>(redis, banEntries, async () => {}),
    ),
    tokens: tokensInRedis(redis, auditedChanges),
    uses: usesInRedis(redis),
  };
}

function auditLogInRedis(
  entries: Pick<AuditEntries, 'read'>,
  {
    make,
    answered,
    forget,
  }: Pick<AuditedChanges<null>, 'make' | 'answered' | 'forget'>,
): AuditLog {
  /** Oldest first with `above`, else newest first. */
  async function list({
    above,
    below = Number.MAX_SAFE_INTEGER,
    limit,
    ...query
  }: AuditQuery): Promise<AuditEntry[]> {
    const found: AuditEntry[] = [];
    const isUp = above !== undefined;
    let { oldest, newest } = await entries.read(1, 0);
    let at = isUp ? Math.max(above + 1, oldest) : Math.min(newest, below - 1);
    while (
      found.length < limit &&
      at >= oldest &&
      at <= Math.min(newest, below - 1)
    ) {
      const part = isUp
        ? await entries.read(at, Math.min(at + PAGE_SIZE, below) - 1)
        : await entries.read(at - PAGE_SIZE + 1, at);
      const page = isUp ? part.entries : part.entries.toReversed();
      found.push(...page.filter((entry) => fits(entry, query)));
      if (isUp) newest = part.newest;
      else oldest = part.oldest;
      at += isUp ? PAGE_SIZE : -PAGE_SIZE;
    }
    return found.slice(0, limit);
  }

  return {
    append: (note) => make({ note, locks: [], plan: async () => null }),
    list,
    forget,
    answered,
  };
}

function fits(
  entry: AuditEntry,
  query: Pick<AuditQuery, 'actor' | 'action' | 'target' | 'since'>,
): boolean {
  const {
    actor = entry.actor,
    action = entry.action,
    since = entry.at,
    target,
  } = query;
  const isAsked =
    entry.at >= since && actor === entry.actor && action === entry.action;
  return isAsked && (target === undefined || isAbout(entry, target));
}

/** Sorted by name. */
export async function tokensIn(redis: Connection): Promise<TokenRecord[]> {
  const texts = Object.values(
    await checkShape(redis, 'the tokens', redis.hgetall(keyOf.tokens), isHash),
  );
  return texts
    .map((text) => JSON.parse(text) as TokenRecord)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function tokensInRedis(
  redis: Connection,
  auditedChanges: Pick<AuditedChanges<TokenChange>, 'make'>,
): TokenStore {
  async function make(
    name: string,
    exists: boolean,
    change: TokenChange,
    note: AuditNote,
  ) {
    async function plan() {
      if (
        (await withTimeout(redis.hexists(keyOf.tokens, name))) !==
        Number(exists)
      )
        throw new WrongName(name);
      return change;
    }
    try {
      await auditedChanges.make({ note, locks: [`token:${name}`], plan });
      return true;
    } catch (error) {
      if (error instanceof WrongName) return false;
      throw error;
    }
  }

  return {
    list: () => withTimeout(tokensIn(redis)),
    add: (token, note) => make(token.name, false, { token }, note),
    remove: (name, note) => make(name, true, { ended: name }, note),
  };
}

/** Idempotent. */
async function applyTokenChange(
  redis: Connection,
  change: TokenChange,
): Promise<void> {
  if ('ended' in change) {
    await withTimeout(redis.hdel(keyOf.tokens, change.ended));
    return;
  }
  const { token } = change;
  const text = JSON.stringify(token);
  if ((await withTimeout(redis.hsetnx(keyOf.tokens, token.name, text))) === 1)
    return;
  if ((await withTimeout(redis.hget(keyOf.tokens, token.name))) !== text)
    throw new WrongName(token.name);
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

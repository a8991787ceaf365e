import type { AuditNote } from '../../keys/operators/audit-log.ts';
import type { TokenRecord, TokenStore } from '../../keys/operators/tokens.ts';
import type { AuditedChanges } from './audited-changes.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';
import { checkShape, isHash } from './shapes.ts';
import { withTimeout } from './timeouts.ts';

export type TokenChange = { readonly token: TokenRecord } | { readonly ended: string };

class WrongName extends Error {}

/** Sorted by name. */
export async function tokensIn(redis: Connection): Promise<TokenRecord[]> {
  const texts = Object.values(await checkShape(redis, 'the tokens', redis.hgetall(keyOf.tokens), isHash));
  return texts.map((text) => JSON.parse(text) as TokenRecord).sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function tokensInRedis(
  redis: Connection,
  auditedChanges: Pick<AuditedChanges<TokenChange>, 'make'>,
): TokenStore {
  async function make(name: string, exists: boolean, change: TokenChange, note: AuditNote): Promise<boolean> {
    async function plan() {
      if ((await withTimeout(redis.hexists(keyOf.tokens, name))) !== Number(exists)) throw new WrongName(name);
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
export async function applyTokenChange(redis: Connection, change: TokenChange): Promise<void> {
  if ('ended' in change) {
    await withTimeout(redis.hdel(keyOf.tokens, change.ended));
    return;
  }
  const { token } = change;
  const text = JSON.stringify(token);
  if ((await withTimeout(redis.hsetnx(keyOf.tokens, token.name, text))) === 1) return;
  if ((await withTimeout(redis.hget(keyOf.tokens, token.name))) !== text) throw new WrongName(token.name);
}

import type { TokenRecord, TokenStore } from '../../keys/operators/tokens.ts';
import type { AuditedChange, AuditedChanges } from './audited-changes.ts';
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
  const isTaken = async (name: string) => (await withTimeout(redis.hexists(keyOf.tokens, name))) === 1;

  async function make(change: AuditedChange<TokenChange>): Promise<boolean> {
    try {
      await auditedChanges.make(change);
      return true;
    } catch (error) {
      if (error instanceof WrongName) return false;
      throw error;
    }
  }

  return {
    list: () => withTimeout(tokensIn(redis)),
    add: (token, note) =>
      make({
        note,
        locks: [lockOf(token.name)],
        async plan() {
          if (await isTaken(token.name)) throw new WrongName(token.name);
          return { token };
        },
      }),
    remove: (name, note) =>
      make({
        note,
        locks: [lockOf(name)],
        async plan() {
          if (!(await isTaken(name))) throw new WrongName(name);
          return { ended: name };
        },
      }),
  };
}

const lockOf = (name: string): string => `token:${name}`;

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

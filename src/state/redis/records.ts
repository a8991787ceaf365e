import type { Records } from '../storage.ts';
import { auditLogInRedis } from './audit-log.ts';
import { AuditedChanges } from './audited-changes.ts';
import type { Connection } from './client.ts';
import { applyKeyChange, type KeyChange } from './key-change.ts';
import { type KeysInRedisOptions, keysInRedis } from './keystore.ts';
import { usesInRedis } from './last-uses.ts';
import { applyTokenChange, type TokenChange, tokensInRedis } from './tokens.ts';

/** Whatever a call that died half-way may have left to be made; `null`: something that is kept elsewhere. */
type Change = KeyChange | TokenChange | null;

/** What people manage, in Redis. */
export function recordsInRedis(redis: Connection, options: KeysInRedisOptions): Records {
  const auditedChanges = new AuditedChanges<Change>(redis, async (change) => {
    if (change === null) return;
    if ('record' in change) await applyKeyChange(redis, change);
    else await applyTokenChange(redis, change);
  });
  return {
    keys: keysInRedis(redis, auditedChanges, options),
    auditLog: auditLogInRedis(redis, auditedChanges),
    tokens: tokensInRedis(redis, auditedChanges),
    uses: usesInRedis(redis),
  };
}

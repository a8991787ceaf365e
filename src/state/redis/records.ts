import type { AuditSettings } from '../../config/config.ts';
import type { Records } from '../storage.ts';
import { AuditEntries } from './audit-entries.ts';
import { auditLogInRedis } from './audit-log.ts';
import { auditedChangesIn } from './audited-changes.ts';
import type { Connection } from './client.ts';
import { applyKeyChange, applyNewKeys, type KeyChange, type NewKeys } from './key-change.ts';
import { type KeysInRedisOptions, keysInRedis } from './keystore.ts';
import { usesInRedis } from './last-uses.ts';
import { applyTokenChange, type TokenChange, tokensInRedis } from './tokens.ts';

/** `null`: a change that is stored elsewhere. */
type Change = KeyChange | NewKeys | TokenChange | null;

export interface RecordsInRedisOptions extends KeysInRedisOptions {
  readonly audit: AuditSettings;
}

export function recordsInRedis(redis: Connection, { audit, ...options }: RecordsInRedisOptions): Records {
  const entries = new AuditEntries(redis, audit);
  const banEntries = new AuditEntries(redis, audit, 'bans');
  const auditedChanges = auditedChangesIn<Change>(redis, entries, async (change) => {
    if (change === null) return;
    if ('records' in change) await applyNewKeys(redis, change);
    else if ('record' in change) await applyKeyChange(redis, change);
    else await applyTokenChange(redis, change);
  });
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

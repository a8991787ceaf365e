import type { DatabaseSync } from 'node:sqlite';
import type { AuditSettings } from '../../config/config.ts';
import type { Records, Storage } from '../storage.ts';
import { auditLogInFile, auditWriterIn } from './audit-log.ts';
import { EmbeddedState } from './counters.ts';
import { ledgersInFile, openStateFile } from './file.ts';
import { keysInFile } from './keystore.ts';
import { usesInFile } from './last-uses.ts';
import { lockFolder } from './lock.ts';
import { tokensInFile } from './tokens.ts';

export function recordsInFile(db: DatabaseSync, { keep }: AuditSettings): Records {
  const audit = auditWriterIn(db, keep);
  return {
    keys: keysInFile(db, audit),
    auditLog: auditLogInFile(db, audit),
    tokens: tokensInFile(db, audit),
    uses: usesInFile(db),
  };
}

/** Opens the embedded state: one folder, one gateway. Throws StateFileError, and leaves nothing open then. */
export function openEmbedded(folder: string, clock: () => number, audit: AuditSettings): Storage {
  const db = openStateFile(folder);
  try {
    const lock = lockFolder(folder);
    const state = new EmbeddedState({ clock, store: ledgersInFile(db) });
    return {
      state,
      ...recordsInFile(db, audit),
      recheckKeysAfter: Number.POSITIVE_INFINITY,
      kind: 'embedded',
      ready: () => true,
      announce: lock.announce,
      async close() {
        await state.close();
        db.close();
        lock.release();
      },
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

import type { DatabaseSync } from 'node:sqlite';
import type { Records, Remembered } from '../storage.ts';
import { journalInFile } from './audit-log.ts';
import { MemoryState } from './counters.ts';
import { ledgerShelf, openStateFile } from './file.ts';
import { keysInFile } from './keystore.ts';
import { usesInFile } from './last-uses.ts';
import { lockFolder } from './lock.ts';
import { tokensInFile } from './tokens.ts';

export function recordsInFile(db: DatabaseSync): Records {
  return { keys: keysInFile(db), journal: journalInFile(db), tokens: tokensInFile(db), uses: usesInFile(db) };
}

/** The embedded default: one folder, one gateway. Throws StateFileError, with nothing left open. */
export function openEmbedded(folder: string, clock: () => number): Remembered {
  const db = openStateFile(folder);
  try {
    const lock = lockFolder(folder);
    const state = new MemoryState({ clock, shelf: ledgerShelf(db) });
    return {
      state,
      ...recordsInFile(db),
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

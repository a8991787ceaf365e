import type { DatabaseSync } from 'node:sqlite';
import { journalInFile } from '../admin/journal-file.ts';
import { tokensInFile } from '../admin/tokens-file.ts';
import { keysInFile } from '../keys/file.ts';
import type { KeyStore } from '../keys/store.ts';
import type { UseShelf } from '../keys/uses.ts';
import { usesInFile } from '../keys/uses-file.ts';
import type { Journal } from '../operators/audit-log.ts';
import type { TokenStore } from '../operators/tokens.ts';
import { ledgerShelf, openStateFile } from './memory/file.ts';
import { type Announcement, lockFolder } from './memory/lock.ts';
import { MemoryState } from './memory/memory.ts';
import type { State } from './state.ts';

/** What people manage: all of it outlives the process and may be changed beside a running gateway. */
export interface Records {
  readonly keys: KeyStore;
  readonly journal: Journal;
  readonly tokens: TokenStore;
  readonly uses: UseShelf;
}

/** Everything a gateway remembers, wherever it is kept. */
export interface Remembered extends Records {
  readonly state: State & { readonly size: number };
  /** Milliseconds after which a key is looked up again although nobody told of a change; Infinity: changes are always told. */
  readonly recheckKeysAfter: number;
  /** For people: what kind of state this is. */
  readonly kind: string;
  /** Whether requests may be sent to this gateway as far as the state is concerned. */
  readonly ready: () => boolean;
  /** Tells commands where the gateway is that has the counters to itself; absent where they are shared. */
  readonly announce?: (announcement: Announcement) => void;
  close(): Promise<void>;
}

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

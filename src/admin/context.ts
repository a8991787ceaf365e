import type { Config } from '../config/config.ts';
import type { Uses } from '../keys/uses.ts';
import type { Plans } from '../limits/plans.ts';
import type { State } from '../state/state.ts';
import type { Records } from '../state/storage.ts';

/** What a reload changes. */
export interface Reloaded {
  /** Settings and files that differ now. */
  readonly changed: readonly string[];
  /** Settings that differ in the files and stay as they are until a restart. */
  readonly needRestart: readonly string[];
}

/**
 * Called when the files were read and are good, before anything changes: `apply` puts them in force. A reload that is
 * refused never calls it.
 */
export type AroundReload = (reloaded: Reloaded, apply: () => Promise<void>) => Promise<void>;

/** All that the operations of the admin API work with, in a running gateway or beside one. */
export interface AdminContext extends Pick<Records, 'keys' | 'auditLog' | 'tokens'> {
  /** Throws AdminError if counters and bans are out of reach. */
  readonly state: () => State;
  readonly uses: Pick<Uses, 'lastUsed'>;
  readonly config: () => Config;
  readonly plans: () => Plans;
  /** Reads the configuration again and puts it in force. Throws AdminError with every mistake, and what `around` throws. */
  readonly reload: (reason: string, around?: AroundReload) => Promise<Reloaded>;
  readonly clock: () => number;
}

import type { Config, Plans } from '../config/config.ts';
import type { Uses } from '../keys/uses.ts';
import type { State } from '../state/state.ts';
import type { Records } from '../state/storage.ts';

/** What a reload did. */
export interface Reloaded {
  /** Settings, and files, that are different now. */
  readonly changed: readonly string[];
  /** Settings that are different in the files, but stay as they were until a restart. */
  readonly needRestart: readonly string[];
}

/** All that the operations of the admin API work with, in a running gateway or beside it. */
export interface AdminContext extends Pick<Records, 'keys' | 'auditLog' | 'tokens'> {
  /** Throws AdminError where counters and bans are out of reach. */
  readonly state: () => State;
  readonly uses: Pick<Uses, 'lastUsed'>;
  readonly config: () => Config;
  readonly plans: () => Plans;
  /** Reads the configuration again and puts it in force. Throws AdminError with every mistake. */
  readonly reload: (reason: string) => Promise<Reloaded>;
  readonly clock: () => number;
}

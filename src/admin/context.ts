import type { Config } from '../config/config.ts';
import type { LastUseTracker } from '../keys/last-use-tracker.ts';
import type { Window } from '../limits/limits.ts';
import type { Plan, Plans } from '../limits/plans.ts';
import type { Peers } from '../observe/peers/peers.ts';
import type { State } from '../state/state.ts';
import type { LastKnown, Records } from '../state/storage.ts';
import type { WebhookAdmin } from '../webhooks/admin.ts';
import type { Configured } from './differences.ts';

/** What a reload changes. */
export interface Reloaded {
  /** Settings and files that differ now. */
  readonly changed: readonly string[];
  /** Settings that differ in the files and stay as they are until a restart. */
  readonly needRestart: readonly string[];
}

/** What the files say, checked, beside what is in force, and what a reload would change now. */
export interface Compared {
  readonly inForce: Configured;
  readonly inFiles: Configured;
  readonly reloaded: Reloaded;
}

/**
 * Called when the files were read and are good, before anything changes: `apply` puts them in force. A reload that is
 * refused never calls it.
 */
export type ReloadWrapper = (reloaded: Reloaded, apply: () => Promise<void>) => Promise<void>;

/** All that the operations of the admin API work with, in a running gateway or beside one. */
export interface AdminContext extends Pick<Records, 'keys' | 'auditLog' | 'banLog' | 'tokens'> {
  /** Throws AdminError if counters and bans are out of reach. */
  readonly state: () => State;
  /** What is shown while the state is away; absent where there is nothing to show. */
  readonly lastKnown?: LastKnown | undefined;
  /** The gateways that share the state. Throws AdminError if this process is none of them and cannot ask them. */
  readonly peers: () => Peers;
  readonly uses: Pick<LastUseTracker, 'lastUsed'>;
  readonly webhooks: () => Promise<WebhookAdmin>;
  readonly config: () => Config;
  readonly plans: () => Plans;
  /** The windows of the contract. Throws AdminError if it cannot be used. */
  readonly scoped: () => readonly Window[];
  /** The limits of requests without a key; `null`: every operation needs one. */
  readonly publicPlan: () => Plan | null;
  /** Reads the configuration again and puts it in force. Throws AdminError with every mistake, and what `around` throws. */
  readonly reload: (reason: string, around?: ReloadWrapper) => Promise<Reloaded>;
  /**
   * Reads and checks the files as `reload` does, and changes nothing. Throws AdminError with every mistake, and where this
   * process is no running gateway.
   */
  readonly compare: () => Promise<Compared>;
  readonly clock: () => number;
}

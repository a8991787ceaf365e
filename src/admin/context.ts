import type { Config } from '../config/config.ts';
import type { Contracts } from '../config/contract/contract.ts';
import type { LedgerAccess } from '../ledger/ledger.ts';
import type { Plans } from '../limits/plans.ts';
import type { Peers } from '../observe/peers/peers.ts';
import type { ConfigurationStatus } from '../observe/peers/status.ts';
import type { LastUseTracker } from '../records/keys/last-use-tracker.ts';
import type { LastKnown, Records } from '../records/storage.ts';
import type { State } from '../state/state.ts';
import type { WebhookAdmin } from '../webhooks/admin.ts';
import type { Configured } from './differences.ts';

export interface Reloaded {
  readonly changed: readonly string[];
  /** Settings that take effect after a restart. */
  readonly needRestart: readonly string[];
  readonly copy: ConfigurationStatus['copy'];
}

export interface Compared {
  readonly inForce: Configured;
  readonly inFiles: Configured;
  readonly reloaded: Reloaded;
}

/**
 * Called with valid files before anything changes; `apply` puts them in force. Not called for a
 * refused reload.
 */
export type ReloadWrapper = (
  reloaded: Reloaded,
  apply: () => Promise<void>,
) => Promise<void>;

/** In a running gateway or a local command. */
export interface AdminContext
  extends Pick<Records, 'keys' | 'auditLog' | 'banLog' | 'tokens'> {
  /** Throws AdminError if counters and bans are unreachable. */
  readonly state: () => State;
  /** Shown during an outage of the state. */
  readonly lastKnown?: LastKnown | undefined;
  /** Why the state does not respond, for operators; absent if it is in this process. */
  readonly outageText?: (() => string) | undefined;
  /** Throws AdminError if this process cannot query gateways. */
  readonly peers: () => Peers;
  readonly ledger: () => LedgerAccess;
  readonly uses: Pick<LastUseTracker, 'lastUsed'>;
  readonly webhooks: () => Promise<WebhookAdmin>;
  readonly config: () => Config;
  readonly plans: () => Plans;
  /** Throws AdminError if the contract is unusable. */
  readonly contract: () => Contracts;
  /**
   * Reads the configuration again and puts it in force. Throws AdminError with every mistake, and
   * what `around` throws.
   */
  readonly reload: (
    reason: string,
    around?: ReloadWrapper,
  ) => Promise<Reloaded>;
  /**
   * Validates the files without changes. Throws AdminError with every mistake, or if this process
   * is not a running gateway.
   */
  readonly compare: () => Promise<Compared>;
  readonly clock: () => number;
}

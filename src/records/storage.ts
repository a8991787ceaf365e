import type { OpenAddressWindow } from '../common/clients/address-window.ts';
import type { MaybePromise } from '../common/maybe-promise.ts';
import type { UsageStore } from '../ledger/store.ts';
import type { Peers, Self } from '../observe/peers/peers.ts';
import type { BansAsOf, StartedBan, State } from '../state/state.ts';
import type { LastUseStore } from './keys/last-use-tracker.ts';
import type { KeyStore, KeysAsOf } from './keys/store.ts';
import type { AuditLog } from './operators/audit-log.ts';
import type { TokenStore } from './operators/tokens.ts';
import type { Outbox } from './outbox.ts';

/**
 * Records that operators manage. They outlive the process, and other processes may change them
 * while a gateway runs.
 */
export interface Records {
  readonly keys: KeyStore;
  readonly auditLog: AuditLog;
  /**
   * All bans, including escalation bans, and operator actions on bans. Its entries have their own
   * numbers.
   */
  readonly banLog: AuditLog;
  readonly tokens: TokenStore;
  readonly uses: LastUseStore;
}

/** `null`: unknown. */
export interface LastKnown {
  readonly keys: () => KeysAsOf | null;
  readonly bans: () => MaybePromise<BansAsOf | null>;
}

export interface Storage extends Records {
  readonly state: State & { readonly size: number };
  /** Counts in one window of all gateways that share the state. Never fails. */
  readonly openAddressWindow: OpenAddressWindow;
  /**
   * Reports bans that no response includes; absent if every response includes the ban it starts.
   */
  readonly onBan?: (hear: (ban: StartedBan) => void) => void;
  readonly kind: string;
  readonly ready: () => boolean;
  /**
   * Milliseconds since counter writes to disk began to fail; 0: they work, or counters are not on
   * disk.
   */
  readonly unsavedFor: () => number;
  /** Age of the key cache in the data folder, milliseconds; absent without a key cache. */
  readonly keyCacheAge?: () => number;
  /** Absent if the state is in this process. */
  readonly lastKnown?: LastKnown;
  /** Why the state does not respond, for operators; absent if it is in this process. */
  readonly outageText?: () => string;
  /** Opens the queue of webhook events; the caller closes it. Throws StateFileError. */
  readonly outbox: () => Promise<Outbox>;
  /** Closed with the storage. */
  readonly ledger: UsageStore;
  /** Keeps parts during an outage of the ledger, also for the next process. Closed with the storage. */
  readonly ledgerSpool?: UsageStore;
  /**
   * Joins the peers that share the state. Close the result before the storage. `failed` is called
   * if a response of this gateway to a peer failed.
   */
  readonly join: (self: Self, failed: (error: unknown) => void) => Peers;
  close(): Promise<void>;
}

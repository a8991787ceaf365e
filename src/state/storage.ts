import type { LastUseStore } from '../keys/last-use-tracker.ts';
import type { AuditLog } from '../keys/operators/audit-log.ts';
import type { TokenStore } from '../keys/operators/tokens.ts';
import type { KeyStore, KeysAsOf } from '../keys/store.ts';
import type { Peers, Self } from '../observe/peers/peers.ts';
import type { Outbox } from '../webhooks/outbox.ts';
import type { BansAsOf, StartedBan, State } from './state.ts';

/** What people manage. All of it outlives the process, and other processes may change it beside a running gateway. */
export interface Records {
  readonly keys: KeyStore;
  readonly auditLog: AuditLog;
  /** All bans, those of the ladder too, and what people did about bans. Its entries have numbers of their own. */
  readonly banLog: AuditLog;
  readonly tokens: TokenStore;
  readonly uses: LastUseStore;
}

/** What a gateway can show to operators while the state is away; `null`: nothing is known here. */
export interface LastKnown {
  readonly keys: () => KeysAsOf | null;
  readonly bans: () => BansAsOf | null;
}

/** Everything a gateway remembers, wherever it is kept. */
export interface Storage extends Records {
  readonly state: State & { readonly size: number };
  /** Milliseconds after which a key is looked up again although no change was told; Infinity where every change is told. */
  readonly recheckKeysAfter: number;
  /** Bans that no answer tells of; absent where every answer tells of the ban that it begins. */
  readonly onBan?: (hear: (ban: StartedBan) => void) => void;
  /** What kind of state this is, in words for people. */
  readonly kind: string;
  /** Whether the state lets this gateway take requests. */
  readonly ready: () => boolean;
  /** Milliseconds for which counters could not be written to disk; 0 where they can be, or are not kept there. */
  readonly unsavedFor: () => number;
  /** How old the copy of the keys in the data folder is, milliseconds; absent where there is to be none. */
  readonly keyCacheAge?: () => number;
  /** Absent where the state is in this process. */
  readonly lastKnown?: LastKnown;
  /** Where events wait for receivers of webhooks; opened for who asks, who closes it. Throws StateFileError. */
  readonly outbox: () => Promise<Outbox>;
  /** Takes this gateway into the fleet of those that share the state. To be closed before the storage. */
  readonly join: Join;
  /** Tells commands where this gateway is. Absent where counters are shared: commands reach those by themselves. */
  readonly announce?: (announcement: Announcement) => void;
  close(): Promise<void>;
}

/** `failed` is told of an answer of this gateway that could not be made. */
export type Join = (self: Self, failed: (error: unknown) => void) => Peers;

/**
 * How commands reach the gateway that has locked a folder. The token is good for this run alone, so another gateway at the
 * same address refuses it. Whoever can read it could change the folder anyway.
 */
export interface Announcement {
  readonly url: string;
  readonly token: string;
}

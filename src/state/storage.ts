import type { KeyStore } from '../keys/store.ts';
import type { LastUseStore } from '../keys/uses.ts';
import type { AuditLog } from '../operators/audit-log.ts';
import type { TokenStore } from '../operators/tokens.ts';
import type { State } from './state.ts';

/** What people manage. All of it outlives the process, and other processes may change it beside a running gateway. */
export interface Records {
  readonly keys: KeyStore;
  readonly auditLog: AuditLog;
  readonly tokens: TokenStore;
  readonly uses: LastUseStore;
}

/** Everything a gateway remembers, wherever it is kept. */
export interface Storage extends Records {
  readonly state: State & { readonly size: number };
  /** Milliseconds after which a key is looked up again although no change was told; Infinity where every change is told. */
  readonly recheckKeysAfter: number;
  /** What kind of state this is, in words for people. */
  readonly kind: string;
  /** Whether the state lets this gateway take requests. */
  readonly ready: () => boolean;
  /** Milliseconds for which counters could not be written to disk; 0 where they can be, or are not kept there. */
  readonly unsavedFor: () => number;
  /** How old the copy of the keys in the data folder is, milliseconds; absent where there is to be none. */
  readonly keyCopyAge?: () => number;
  /** Tells commands where this gateway is. Absent where counters are shared: commands reach those by themselves. */
  readonly announce?: (announcement: Announcement) => void;
  close(): Promise<void>;
}

/**
 * How commands reach the gateway that has locked a folder. The token is good for this run alone, so another gateway at the
 * same address refuses it. Whoever can read it could change the folder anyway.
 */
export interface Announcement {
  readonly url: string;
  readonly token: string;
}

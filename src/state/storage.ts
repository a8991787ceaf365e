import type { KeyStore } from '../keys/store.ts';
import type { LastUseStore } from '../keys/uses.ts';
import type { AuditLog } from '../operators/audit-log.ts';
import type { TokenStore } from '../operators/tokens.ts';
import type { State } from './state.ts';

/** What people manage: all of it outlives the process and may be changed beside a running gateway. */
export interface Records {
  readonly keys: KeyStore;
  readonly auditLog: AuditLog;
  readonly tokens: TokenStore;
  readonly uses: LastUseStore;
}

/** Everything a gateway remembers, wherever it is kept. */
export interface Storage extends Records {
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

/**
 * How commands reach the gateway that has locked a folder. The token is of this run alone: another gateway at the same
 * address refuses it, and whoever may read it could change the folder itself.
 */
export interface Announcement {
  readonly url: string;
  readonly token: string;
}

import type { Party } from '@storegate/http1';
import type { Limits, Window } from '../limits/limits.ts';
import type { Plan } from '../limits/plans.ts';

/** A key as it is stored: everything but the secret. Times are Unix milliseconds. */
export interface KeyRecord {
  readonly id: string;
  /** Counts changes, from 1. The store refuses a change made from an older version. */
  readonly version: number;
  /** SHA-256 of the secret. */
  readonly hash: string;
  readonly account: string;
  readonly plan: string;
  /** What the key is used for, for people. */
  readonly label: string | null;
  /** The key's own limits instead of its plan's. */
  readonly windows: readonly Window[] | null;
  /** CIDR blocks from which the key may be used; `null`: from anywhere. */
  readonly addresses: readonly string[] | null;
  /** What the key may do where the contract asks for a scope; each once, in no order. */
  readonly scopes: readonly string[];
  /** Free for the operator's own use. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** Since when the key is switched off; it can be enabled again. */
  readonly disabledAt: number | null;
  /** Since when the key is switched off for good. */
  readonly revokedAt: number | null;
  readonly rotatedAt: number | null;
  /** The secret before the last rotation, and until when it works. */
  readonly previous: { readonly hash: string; readonly until: number } | null;
  /** Whether it came from another system; its secret then has another form. */
  readonly imported: boolean;
}

/** Values for fields that older records do not have. */
const EARLIER = {
  version: 1,
  addresses: null,
  scopes: [],
  metadata: {},
  disabledAt: null,
  rotatedAt: null,
  previous: null,
  imported: false,
};

/** Reads a stored record of any version. */
export function readRecord(text: string): KeyRecord {
  return wholeRecord(JSON.parse(text));
}

/** A record of any version, with the fields that it may not have. */
export function wholeRecord(record: Partial<KeyRecord>): KeyRecord {
  return { ...EARLIER, ...record } as KeyRecord;
}

/** The holder of a key that was found, with all that the request path needs, worked out once. */
export interface Client {
  readonly keyId: string;
  readonly account: string;
  readonly plan: string;
  /** Whose counters move: those of the key, or of its account if the plan counts accounts. */
  readonly subject: string;
  /**
   * `null`: the plan is custom, and neither key nor account has limits. That is an operator's mistake, never
   * "unlimited".
   */
  readonly limits: Limits | null;
  /** Requests of the subject that may be in flight at once; `null`: any number. */
  readonly concurrency: number | null;
  /** As whom its requests wait for a busy store: its plan, and the subject in it. */
  readonly party: Party;
  readonly expiresAt: number | null;
  /** Revoked or disabled. */
  readonly revoked: boolean;
  /** `null`: it may be used from anywhere. */
  readonly addresses: ClientAddresses | null;
  readonly scopes: readonly string[];
  /** The key was found by the secret before its last rotation, which works until then; `null`: by the one in force. */
  readonly retiresAt: number | null;
}

/** Where a client may come from: from the blocks of its key, and where the lists of its plan say so. */
export interface ClientAddresses {
  readonly key: readonly string[] | null;
  /** A plan that has lists. */
  readonly plan: Plan | null;
}

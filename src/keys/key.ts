import type { Party } from '@storegate/http1';
import type { Limits, Window } from '../limits/limits.ts';
import { type Plan, PUBLIC_PLAN } from '../limits/plans.ts';

/** A stored key, without its secret. Times are Unix milliseconds. */
export interface KeyRecord {
  readonly id: string;
  /** Counts changes, from 1. The store refuses a change based on an older version. */
  readonly version: number;
  /** SHA-256 of the secret. */
  readonly hash: string;
  readonly account: string;
  readonly plan: string;
  readonly label: string | null;
  /** The key's own limits; they replace the plan's. */
  readonly windows: readonly Window[] | null;
  /** CIDR blocks from which the key may be used; `null` for anywhere. */
  readonly addresses: readonly string[] | null;
  /** Scopes of the key, unique and unordered. */
  readonly scopes: readonly string[];
  /** For the operator's own use. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** When the key was disabled; it can be enabled again. */
  readonly disabledAt: number | null;
  /** When the key was revoked for good. */
  readonly revokedAt: number | null;
  readonly rotatedAt: number | null;
  /** The secret before the last rotation, and when it expires. */
  readonly previous: { readonly hash: string; readonly until: number } | null;
  /** Whether it was imported; its secret then has another form. */
  readonly imported: boolean;
}

/** Defaults for fields that older records lack. */
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

export function readRecord(text: string): KeyRecord {
  return wholeRecord(JSON.parse(text));
}

/** Fills in the fields that an older record lacks. */
export function wholeRecord(record: Partial<KeyRecord>): KeyRecord {
  return { ...EARLIER, ...record } as KeyRecord;
}

/** The client of a key, with everything that the request path needs, computed once. */
export interface Client {
  /** Without a key: the subject. */
  readonly keyId: string;
  readonly account: string;
  readonly plan: string;
  /** The counted subject: the key, its account if the plan counts accounts, or an address without a key. */
  readonly subject: string;
  /**
   * `null`: the plan is custom, and neither key nor account has limits. This is an operator's mistake and never means
   * unlimited.
   */
  readonly limits: Limits | null;
  /** Most concurrent requests of the subject; `null` for unlimited. */
  readonly concurrency: number | null;
  /** Owner of its requests in the queue for a busy store: plan and subject. */
  readonly party: Party;
  readonly expiresAt: number | null;
  /** Revoked or disabled. */
  readonly revoked: boolean;
  /** `null` for anywhere. */
  readonly addresses: ClientAddresses | null;
  readonly scopes: readonly string[];
  /** If the client used the secret before the last rotation: when that secret expires. Otherwise `null`. */
  readonly retiresAt: number | null;
}

/** Whether the request had no key, and needed none. */
export function isAnonymous({ plan }: Pick<Client, 'plan'>): boolean {
  return plan === PUBLIC_PLAN;
}

/** The client address must match the blocks of the key and the lists of its plan. */
export interface ClientAddresses {
  readonly key: readonly string[] | null;
  /** The plan, if it has address lists. */
  readonly plan: Plan | null;
}

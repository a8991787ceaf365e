import type { QueueOwner } from '@storegate/http1';
import type { Limits, Window } from '../../limits/limits.ts';
import { type Plan, PUBLIC_PLAN } from '../../limits/plans.ts';

/** Times are Unix milliseconds. */
export interface KeyRecord {
  readonly id: string;
  /** Rises with each change, from 1, and detects conflicts. */
  readonly version: number;
  /** SHA-256 of the secret. */
  readonly hash: string;
  readonly account: string;
  readonly plan: string;
  readonly label: string | null;
  readonly windows: readonly Window[] | null;
  /** CIDR blocks; `null` for anywhere. */
  readonly addresses: readonly string[] | null;
  readonly scopes: readonly string[];
  /** Names of the APIs that it may be used for; `null` or absent: all. */
  readonly apis?: readonly string[] | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly disabledAt: number | null;
  readonly revokedAt: number | null;
  readonly rotatedAt: number | null;
  /** The secret before the last rotation, and when it expires. */
  readonly previous: { readonly hash: string; readonly until: number } | null;
  /** Imported secrets have another form. */
  readonly imported: boolean;
}

/** The hashes of the current secret and of the previous one. */
export function hashesOf({
  hash,
  previous,
}: Pick<KeyRecord, 'hash' | 'previous'>): string[] {
  return previous ? [hash, previous.hash] : [hash];
}

export interface Client {
  /** Without a key: the subject. */
  readonly keyId: string;
  readonly account: string;
  readonly plan: string;
  readonly subject: string;
  /**
   * `null`: a custom plan without limits of key or account. This is an operator's mistake and never
   * means unlimited.
   */
  readonly limits: Limits | null;
  /** `null` for unlimited. */
  readonly concurrency: number | null;
  /**
   * Owns its part of everything shared: the plan by its weight, and in it the account, or without a
   * key the network.
   */
  readonly owner: QueueOwner;
  readonly expiresAt: number | null;
  /** `null`: neither disabled nor revoked. */
  readonly withdrawn: 'disabled' | 'revoked' | null;
  /** `null` for anywhere. */
  readonly addresses: ClientAddresses | null;
  readonly scopes: readonly string[];
  /** `null` for all. */
  readonly apis: readonly string[] | null;
  readonly retiresAt: number | null;
}

/** Whether the request had no key, and needed none. */
export function isAnonymous({ plan }: Pick<Client, 'plan'>): boolean {
  return plan === PUBLIC_PLAN;
}

/** The client address must match the blocks of the key and the lists of its plan. */
export interface ClientAddresses {
  readonly key: readonly string[] | null;
  readonly plan: Plan | null;
}

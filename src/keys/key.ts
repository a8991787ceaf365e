import type { Limits, Window } from '../limits/limits.ts';

/** What is kept of a key: everything but the secret. Times are Unix milliseconds. */
export interface KeyRecord {
  readonly id: string;
  /** Counts the changes, from 1: a change that was made from an older version is refused. */
  readonly version: number;
  /** SHA-256 of the secret. */
  readonly hash: string;
  readonly account: string;
  readonly plan: string;
  /** For people: what the key is used for. */
  readonly label: string | null;
  /** The key's own limits, in place of its plan's. */
  readonly windows: readonly Window[] | null;
  /** CIDR blocks that the key may be used from; `null`: from anywhere. */
  readonly addresses: readonly string[] | null;
  /** Whatever whoever issues keys wants to find again. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** Off for a while, and can be enabled again. */
  readonly disabledAt: number | null;
  /** Off for good. */
  readonly revokedAt: number | null;
  readonly rotatedAt: number | null;
  /** The secret before the last rotation, while it still works. */
  readonly previous: { readonly hash: string; readonly until: number } | null;
  /** Came from another system: its secret has another form than ours. */
  readonly imported: boolean;
}

/** What records say that were written before there was such a thing. */
const EARLIER = {
  version: 1,
  addresses: null,
  metadata: {},
  disabledAt: null,
  rotatedAt: null,
  previous: null,
  imported: false,
};

/** A record as it was stored, by whatever version. */
export function readRecord(text: string): KeyRecord {
  return { ...EARLIER, ...JSON.parse(text) } as KeyRecord;
}

/** Who a found key is, with all that the request path asks about it, worked out once. */
export interface Client {
  readonly keyId: string;
  readonly account: string;
  readonly plan: string;
  /** Whose counters move: the key, or its account where the plan counts accounts. */
  readonly subject: string;
  /** `null`: a custom plan and no limits set for key or account. A mistake of the operator, never "unlimited". */
  readonly limits: Limits | null;
  readonly expiresAt: number | null;
  /** Revoked or disabled. */
  readonly revoked: boolean;
  readonly addresses: readonly string[] | null;
  /** Found by the secret before the last rotation, which works until then; `null`: by the one in force. */
  readonly retiresAt: number | null;
}

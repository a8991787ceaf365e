/**
 * One limit over one span. A subject has one counter per window; kind, span and scope tell its counters apart (`windowId`).
 *
 * Make each window, and each list of windows, once and keep it: the hot path recognises them by identity (see `Limits`). A
 * caller that builds equal ones for each request gets the right counts, but each request then copies the ledger's cells and
 * formats the policy header again.
 */
export interface Window {
  /** Stable name, shown in headers and metrics: `minute`, `hour`, `day`, or the span as written (`10s`). */
  readonly name: string;
  /**
   * `fixed`: opened by the first request, reset as a whole when its span is over.
   * `sliding`: in any span of this length at most `limit` units are admitted.
   * The table `WINDOW_KINDS` says how kinds differ. A kind added here compiles only with a complete entry there.
   */
  readonly kind: 'fixed' | 'sliding';
  /** Units admitted per span; a positive integer. */
  readonly limit: number;
  /** Length in milliseconds. */
  readonly span: number;
  /**
   * What alone it counts: the requests of one operation, or of all operations with one tag (`scopes.ts`). Absent: every request,
   * as windows of plans, keys and accounts do. It is absent and not `null` because stored windows have none.
   */
  readonly scope?: string;
}

/** How keys that keep sending after a refusal are banned, longer each time. All times in milliseconds. */
export interface BanEscalation {
  /** So many strikes within `within` are a ban. */
  readonly strikes: number;
  readonly window: number;
  /** A refusal this soon after the first one of its kind is no strike: the caller may not have seen an answer yet. */
  readonly grace: number;
  /** Length of the first, second, … ban; the last one repeats. Never empty, never falling. */
  readonly durations: readonly number[];
  /** One rung of the ladder is forgotten for each span of this length without a strike or a ban. */
  readonly decay: number;
}

/**
 * Everything admission needs to know about a subject that is not its history.
 *
 * The hot path recognises limits by identity: a comparison of their contents would cost more than the decision. So keep one
 * object for each set of limits and pass it with every request while the set is in force. The keyring does this: it keeps
 * one per list of windows and drops them all when the plans change. Never change an object; make another for other limits.
 *
 * A caller that builds an equal object for each request still gets right decisions from the state, but slower ones: known
 * refusals are not recognised, so a flood of them reaches the state, and each request adds a set of limits to the call to
 * Redis. While Redis is away the harm is greater: a subject's count starts again from its last known standing whenever its
 * object changes, and Redis never learns of the units admitted under the object before.
 */
export interface Limits {
  /**
   * Never empty; ordered from the shortest span to the longest. The client's own ones and all that the contract has, whichever of
   * them a request counts in: a ledger keeps no counts of windows that are not among its limits.
   */
  readonly windows: readonly Window[];
  /** `null`: keys of this plan are never banned. */
  readonly ladder: BanEscalation | null;
}

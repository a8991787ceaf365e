/**
 * One limit over one span. A subject has one counter per window, identified by kind, span and scope
 * (`windowId`). Make each window, and each list of windows, once and keep it (see `Limits`).
 */
export interface Window {
  /**
   * Stable name, shown in headers and metrics: `minute`, `hour`, `day`, or the span as written
   * (`10s`).
   */
  readonly name: string;
  /**
   * `fixed`: opened by the first request, reset as a whole at the end of its span. `sliding`: in
   * any span of this length at most `limit` units are admitted. `calendar`: reset at the begin of
   * each hour, day, week or month. `WINDOW_KINDS` defines the differences. A new kind compiles only
   * with a complete entry there.
   */
  readonly kind: 'fixed' | 'sliding' | 'calendar';
  /** Units admitted per span; a positive integer. */
  readonly limit: number;
  /** Length in milliseconds; of a calendar window the usual one (`CALENDAR_SPANS`). */
  readonly span: number;
  /** The time zone of a calendar window; absent in counters, which need none. */
  readonly zone?: string;
  /**
   * What happens to requests above the limit; absent: they are refused. `watch`: they are admitted,
   * not charged to this window, and reported as requests that it would have refused. `overage`:
   * they are admitted and charged.
   */
  readonly excess?: 'watch' | 'overage';
  /** The day that a week (1: Monday) or month of a calendar window begins with; absent for 1. */
  readonly anchor?: number;
  /**
   * The only requests that it counts: those of one operation, of all operations with one tag, or
   * of one API (`scopes.ts`); of plans, keys and accounts the last. Absent: every request. Not
   * `null`, because stored windows lack the field.
   */
  readonly scope?: string;
}

/** Escalating bans for keys that keep sending after a refusal. Times in milliseconds. */
export interface BanEscalation {
  /** Strikes within `window` that cause a ban. */
  readonly strikes: number;
  readonly window: number;
  /**
   * Clients that may share a key: each may learn of a limit by a refusal of its own, so as many
   * refusals until the retry time as the limit has units are not strikes, at least `minWorkers` and
   * at most `workers` (`freeIn`). Both are at least 1.
   */
  readonly workers: number;
  readonly minWorkers: number;
  /**
   * A refusal this soon after the first of its kind is not a strike: the client may not have
   * received a response yet.
   */
  readonly grace: number;
  /** Length of the first, second, … ban; the last one repeats. Never empty, never decreasing. */
  readonly durations: readonly number[];
  /** The ban level drops by one per span of this length without a strike or a ban. */
  readonly decay: number;
}

/**
 * Everything admission needs to know about a subject that is not its history.
 *
 * The hot path recognises limits and windows by identity: a comparison of their contents would cost
 * more than the decision. So keep one object for each set of limits and pass it with every request
 * while the set is in force, as the keyring does. Never change an object; make another for other
 * limits.
 *
 * A caller that builds an equal object for each request still gets right decisions from the state,
 * but slower ones: a flood of known refusals reaches the state, cells are copied and headers
 * formatted again. While Redis is down a subject's count starts again from its last known readings
 * whenever its object changes, and Redis never gets the units admitted under the previous object.
 */
export interface Limits {
  /**
   * Never empty; ordered from the shortest span to the longest. Holds the client's own windows and
   * all of the contract's: counters of other windows are not kept.
   */
  readonly windows: readonly Window[];
  /** `null`: keys of this plan are never banned. */
  readonly escalation: BanEscalation | null;
}

/** One limit over one span. A subject has a counter per window; `name` tells the counters of one subject apart. */
export interface Window {
  /** Stable name, shown in headers and metrics: `minute`, `hour`, `day`, or the span as written (`10s`). */
  readonly name: string;
  /**
   * `fixed`: opened by the first request, reset as a whole when its span is over.
   * `sliding`: in any span of this length at most `limit` units are admitted.
   */
  readonly kind: 'fixed' | 'sliding';
  /** Units admitted per span; a positive integer. */
  readonly limit: number;
  /** Length in milliseconds. */
  readonly span: number;
}

/** How keys that keep sending after a refusal are banned, longer each time. All times in milliseconds. */
export interface Ladder {
  /** So many strikes within `within` are a ban. */
  readonly strikes: number;
  readonly within: number;
  /** A refusal this soon after the first one of its kind is no strike: the caller may not have seen an answer yet. */
  readonly grace: number;
  /** Length of the first, second, … ban; the last one repeats. Never empty, never falling. */
  readonly lengths: readonly number[];
  /** One rung of the ladder is forgotten for each span of this length without a strike or a ban. */
  readonly forget: number;
}

/** Everything admission needs to know about a subject that is not its history. */
export interface Limits {
  /** Never empty; ordered from the shortest span to the longest. */
  readonly windows: readonly Window[];
  /** `null`: keys of this plan are never banned. */
  readonly ladder: Ladder | null;
}

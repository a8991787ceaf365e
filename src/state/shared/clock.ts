/** Milliseconds until the offset is outdated: clocks drift and are adjusted. */
const RESYNC_INTERVAL = 10_000;
/** Milliseconds. No response is so slow: Redis's clock was set back. */
const MAX_DELAY = 1_000;

/**
 * Estimates Redis's clock from the times in its responses. The estimate is ahead by at most
 * the drift of ten seconds, and behind by the duration of the fastest response.
 */
export class StateClock {
  readonly #local: () => number;
  #offset: number | null = null;
  #learntAt = 0;

  /** `local`: milliseconds since any fixed time. */
  constructor(
    local: () => number = () => performance.timeOrigin + performance.now(),
  ) {
    this.#local = local;
  }

  /** Unix milliseconds. */
  readonly read = (): number => Math.floor(this.#local() + (this.#offset ?? 0));

  /** `now`: the time in a response, Unix milliseconds. */
  learn(now: number): void {
    const local = this.#local();
    const offset = now - local;
    const known = this.#offset ?? offset;
    const isSlower = offset < known && offset >= known - MAX_DELAY;
    if (isSlower && local < this.#learntAt + RESYNC_INTERVAL) return;
    this.#offset = offset;
    this.#learntAt = local;
  }
}

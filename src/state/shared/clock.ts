/** Milliseconds after which what was learnt of the offset is old: clocks drift, and are set. */
const LEARN_AGAIN = 10_000;

/**
 * Redis's clock as far as this process can tell. Every answer says what Redis's clock showed a little before it came, so
 * the estimate is never ahead of Redis by more than clocks drift in ten seconds, and behind by the quickest answer's way.
 */
export class RedisClock {
  readonly #local: () => number;
  #offset: number | null = null;
  #learntAt = 0;

  constructor(local: () => number = () => performance.timeOrigin + performance.now()) {
    this.#local = local;
  }

  readonly read = (): number => Math.floor(this.#local() + (this.#offset ?? 0));

  learn(now: number): void {
    const local = this.#local();
    const offset = now - local;
    if (this.#offset !== null && offset < this.#offset && local < this.#learntAt + LEARN_AGAIN) return;
    this.#offset = offset;
    this.#learntAt = local;
  }
}

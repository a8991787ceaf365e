/** Milliseconds after which the known offset is old: clocks drift, and people set them. */
const RESYNC_INTERVAL = 10_000;

/**
 * The backend's clock as far as this process can tell. Every answer says what that clock showed a little before the answer
 * came. So the estimate is ahead of the backend by no more than clocks drift in ten seconds, and behind it by as long as
 * the quickest answer took.
 */
export class BackendClock {
  readonly #local: () => number;
  #offset: number | null = null;
  #learntAt = 0;

  /** `local`: milliseconds since any fixed time. */
  constructor(local: () => number = () => performance.timeOrigin + performance.now()) {
    this.#local = local;
  }

  /** Unix milliseconds. */
  readonly read = (): number => Math.floor(this.#local() + (this.#offset ?? 0));

  /** Takes in the time that an answer carried, Unix milliseconds. */
  learn(now: number): void {
    const local = this.#local();
    const offset = now - local;
    if (this.#offset !== null && offset < this.#offset && local < this.#learntAt + RESYNC_INTERVAL) return;
    this.#offset = offset;
    this.#learntAt = local;
  }
}

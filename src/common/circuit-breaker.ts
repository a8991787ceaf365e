/** First and longest wait between two probes, milliseconds. */
const FIRST_PROBE = 100;
const SLOWEST_PROBE = 1_000;

export interface CircuitBreakerOptions {
  /** Misses in a row that open it. */
  readonly misses: number;
  /** Resolves when the service answers again; rejects while it does not. */
  readonly probe: () => Promise<unknown>;
  readonly opened: (reason: unknown) => void;
  readonly closed: () => void;
}

/**
 * Keeps requests from waiting for a service that does not answer. After `misses` misses in a row it opens, and requests no
 * longer ask. A background probe, slower each time, closes it when the service answers again.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #misses = 0;
  #lastMiss: unknown = null;
  #isOpen = false;
  #timer: NodeJS.Timeout | null = null;
  #wait = FIRST_PROBE;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  hit(): void {
    this.#misses = 0;
  }

  /** Requests that shared one failed call pass the same `reason`, which counts as one miss. */
  miss(reason: unknown): void {
    if (this.#isOpen || reason === this.#lastMiss) return;
    this.#lastMiss = reason;
    this.#misses += 1;
    if (this.#misses >= this.#options.misses) this.open(reason);
  }

  /** Opens it at once: the service is known to be away. */
  open(reason: unknown): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#wait = FIRST_PROBE;
    this.#options.opened(reason);
    this.#probeLater();
  }

  /** Ends probing. */
  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#misses = Number.NEGATIVE_INFINITY;
  }

  #probeLater(): void {
    const jitter = 0.75 + Math.random() / 2;
    this.#timer = setTimeout(() => void this.#probe(), this.#wait * jitter).unref();
    this.#wait = Math.min(this.#wait * 2, SLOWEST_PROBE);
  }

  async #probe(): Promise<void> {
    try {
      await this.#options.probe();
    } catch {
      // Still away: the next probe asks again.
      if (this.#timer) this.#probeLater();
      return;
    }
    if (!this.#timer) return;
    this.#timer = null;
    this.#isOpen = false;
    this.#misses = 0;
    this.#options.closed();
  }
}

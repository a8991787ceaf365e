/** Milliseconds. */
const FIRST_PROBE_WAIT = 100;
const LONGEST_PROBE_WAIT = 1_000;

interface CircuitBreakerOptions {
  readonly failureThreshold: number;
  readonly probe: () => Promise<unknown>;
  readonly opened: (reason: unknown) => void;
  readonly closed: () => void;
}

/**
 * After `failureThreshold` consecutive failures requests skip the service. A background probe with
 * growing intervals closes the breaker.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #misses = 0;
  #lastMiss: unknown = null;
  #isOpen = false;
  #timer: NodeJS.Timeout | null = null;
  #wait = FIRST_PROBE_WAIT;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  recordSuccess(): void {
    this.#misses = 0;
  }

  /** Requests that shared one failed call pass the same `reason`, which counts once. */
  recordFailure(reason: unknown): void {
    if (this.#isOpen || reason === this.#lastMiss) return;
    this.#lastMiss = reason;
    this.#misses += 1;
    if (this.#misses >= this.#options.failureThreshold) this.open(reason);
  }

  open(reason: unknown): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#wait = FIRST_PROBE_WAIT;
    this.#options.opened(reason);
    this.#probeLater();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#misses = Number.NEGATIVE_INFINITY;
  }

  #probeLater(): void {
    const jitter = 0.75 + Math.random() / 2;
    this.#timer = setTimeout(
      () => void this.#probe(),
      this.#wait * jitter,
    ).unref();
    this.#wait = Math.min(this.#wait * 2, LONGEST_PROBE_WAIT);
  }

  async #probe(): Promise<void> {
    try {
      await this.#options.probe();
    } catch {
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

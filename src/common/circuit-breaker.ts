/** Milliseconds. */
const FIRST_PROBE_WAIT = 100;
const LONGEST_PROBE_WAIT = 1_000;

interface CircuitBreakerOptions {
  readonly failureThreshold: number;
  readonly probe: () => Promise<unknown>;
  readonly opened: (reason: unknown) => void;
  readonly closed: () => void;
}

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/**
 * After `failureThreshold` consecutive failures requests skip the service. A background probe with
 * growing intervals closes the breaker.
 */
export function createCircuitBreaker({
  failureThreshold,
  probe,
  opened,
  closed,
}: CircuitBreakerOptions) {
  let misses = 0;
  let lastMiss: unknown = null;
  let isOpen = false;
  let timer: NodeJS.Timeout | null = null;
  let wait = FIRST_PROBE_WAIT;

  function open(reason: unknown): void {
    if (isOpen) return;
    isOpen = true;
    wait = FIRST_PROBE_WAIT;
    opened(reason);
    probeLater();
  }

  function probeLater(): void {
    const jitter = 0.75 + Math.random() / 2;
    timer = setTimeout(() => void tryAgain(), wait * jitter).unref();
    wait = Math.min(wait * 2, LONGEST_PROBE_WAIT);
  }

  async function tryAgain(): Promise<void> {
    try {
      await probe();
    } catch {
      if (timer) probeLater();
      return;
    }
    if (!timer) return;
    timer = null;
    isOpen = false;
    misses = 0;
    closed();
  }

  return {
    get isOpen() {
      return isOpen;
    },
    recordSuccess() {
      misses = 0;
    },
    /** Requests that shared one failed call pass the same `reason`, which counts once. */
    recordFailure(reason: unknown): void {
      if (isOpen || reason === lastMiss) return;
      lastMiss = reason;
      misses += 1;
      if (misses >= failureThreshold) open(reason);
    },
    open,
    stop(): void {
      if (timer) clearTimeout(timer);
      timer = null;
      misses = Number.NEGATIVE_INFINITY;
    },
  };
}

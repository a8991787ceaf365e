import type { OpenerOptions } from '@storegate/http1';
import type { Upstream as UpstreamSettings } from '../../config/config.ts';
import type { Health, Verdict } from './health.ts';
import { Prober } from './probe.ts';

/** Milliseconds, then doubled each time, up to the setting. */
const FIRST_PROBE = 250;
/** Milliseconds, however often a recovery failed. */
const LONGEST_PROBE = 30_000;
const SHORTEST_WAIT = 10;

export interface ChecksParts {
  readonly url: string;
  readonly secure: Pick<OpenerOptions, 'tls' | 'lookup'>;
  readonly settings: UpstreamSettings;
  readonly health: Health;
  readonly onResult: (verdict: Verdict, error: unknown) => void;
  readonly ticked: () => void;
}

/**
 * Without a path only while the backend is down. Each process checks on its own, because its own connections may be
 * what fails.
 */
export class Checks {
  readonly #parts: ChecksParts;
  readonly #prober: Prober;
  #settings: UpstreamSettings;
  #timer: NodeJS.Timeout | undefined;
  #asking = false;
  #isClosed = false;
  #probes = 0;

  constructor(parts: ChecksParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.#prober = new Prober(parts.url, parts.settings.healthChecks, parts.secure);
    this.#plan();
  }

  use(settings: UpstreamSettings): void {
    this.#settings = settings;
    this.#prober.use(settings.healthChecks);
    this.#plan();
  }

  keepOnly(addresses: ReadonlySet<string>): void {
    this.#prober.keepOnly(addresses);
  }

  turn(): void {
    this.#probes = 0;
    this.#plan();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#prober.close();
  }

  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#asking || this.#isClosed) return;
    const wait = this.#wait();
    if (wait === null) return;
    // Gateways and workers must not probe at the same time.
    const jitter = 0.85 + Math.random() * 0.3;
    this.#timer = setTimeout(() => void this.#work(), Math.max(SHORTEST_WAIT, wait * jitter)).unref();
  }

  /** Milliseconds; `null`: no action before the state changes. */
  #wait(): number | null {
    const { healthChecks: checks, ejection } = this.#settings;
    const { state, since, failedReturns } = this.#parts.health;
    if (state === 'away') {
      if (failedReturns > 0)
        return Math.min(ejection.probeInterval * 2 ** failedReturns, Math.max(LONGEST_PROBE, ejection.probeInterval));
      return Math.min(FIRST_PROBE * 2 ** this.#probes, ejection.probeInterval);
    }
    const left = state === 'returning' ? since + ejection.slowStart - performance.now() : Number.POSITIVE_INFINITY;
    const wait = Math.min(
      checks.path === null ? Number.POSITIVE_INFINITY : checks.interval,
      Math.max(left, FIRST_PROBE),
    );
    return wait === Number.POSITIVE_INFINITY ? null : wait;
  }

  async #work(): Promise<void> {
    const { health, onResult: heard, ticked } = this.#parts;
    if (health.state !== 'away' && this.#settings.healthChecks.path === null) ticked();
    else {
      this.#asking = true;
      this.#probes++;
      const { verdict, error } = await this.#prober.ask();
      this.#asking = false;
      if (this.#isClosed) return;
      ticked();
      heard(verdict, error);
    }
    this.#plan();
  }
}

import type {
  ClientConnection,
  ClientRequest,
  OpenerOptions,
  Pool,
  PoolLimits,
} from '@storegate/http1';
import { checkedLines, FieldLines } from '@storegate/http1';
import type {
  StatusRange,
  Upstream as UpstreamSettings,
} from '../../config/config.ts';
import type { Health, Verdict } from './health.ts';
import { poolTo } from './pools.ts';

/** Milliseconds, then doubled each time, up to the setting. */
const FIRST_PROBE = 250;
/** Milliseconds, however often a recovery failed. */
const LONGEST_PROBE = 30_000;
const SHORTEST_WAIT = 10;

const NEVER = Number.POSITIVE_INFINITY;
/**
 * The pool's connections may all be blocked by a backend that hangs. Each check has its own
 * deadline.
 */
const OWN_CONNECTION = {
  connections: 1,
  mostWaiting: 0,
  connectTimeout: 120_000,
  headersTimeout: NEVER,
  bodyTimeout: NEVER,
};

const LINES = checkedLines(['User-Agent', 'storegate', 'Accept', '*/*']);

function limitsOf({ keepAliveTimeout }: ChecksParts['settings']): PoolLimits {
  return { ...OWN_CONNECTION, keepAliveTimeout };
}

/** Any response to this path is a sign of life. */
const ANY_PATH = '/';

interface ChecksParts {
  readonly url: string;
  readonly secure: Pick<OpenerOptions, 'tls' | 'lookup'>;
  readonly settings: Pick<
    UpstreamSettings,
    'healthChecks' | 'ejection' | 'keepAliveTimeout'
  >;
  readonly health: Pick<Health, 'state' | 'since' | 'failedReturns'>;
  readonly onResult: (verdict: Verdict, error: unknown) => void;
  readonly ticked: () => void;
}

/**
 * Without a path only while the backend is down. Each process checks on its own, because its own
 * connections may be what fails.
 */
export class Checks {
  readonly #parts: ChecksParts;
  readonly #pool: Pool;
  #settings: ChecksParts['settings'];
  #timer: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #asking = false;
  #isClosed = false;
  #probes = 0;

  constructor(parts: ChecksParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.#pool = poolTo(parts.url, limitsOf(parts.settings), parts.secure);
    this.#plan();
  }

  use(settings: ChecksParts['settings']): void {
    this.#settings = settings;
    this.#pool.use(limitsOf(settings));
    this.#plan();
  }

  keepOnly(addresses: ReadonlySet<string>): void {
    this.#pool.keepOnly(addresses);
  }

  turn(): void {
    this.#probes = 0;
    this.#plan();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    this.#pool.close();
  }

  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#asking || this.#isClosed) return;
    const wait = this.#wait();
    if (wait === NEVER) return;
    // Gateways and workers must not probe at the same time.
    const jitter = 0.85 + Math.random() * 0.3;
    this.#timer = setTimeout(
      () => this.#work(),
      Math.max(SHORTEST_WAIT, wait * jitter),
    ).unref();
  }

  /** Milliseconds; `NEVER`: no action before the state changes. */
  #wait(): number {
    const { healthChecks: checks, ejection } = this.#settings;
    const { state, since, failedReturns } = this.#parts.health;
    if (state === 'down') {
      if (failedReturns > 0)
        return Math.min(
          ejection.probeInterval * 2 ** failedReturns,
          Math.max(LONGEST_PROBE, ejection.probeInterval),
        );
      return Math.min(FIRST_PROBE * 2 ** this.#probes, ejection.probeInterval);
    }
    const left =
      state === 'recovering'
        ? since + ejection.slowStart - performance.now()
        : NEVER;
    return Math.min(
      checks.path === null ? NEVER : checks.interval,
      Math.max(left, FIRST_PROBE),
    );
  }

  #work(): void {
    const { health, onResult, ticked } = this.#parts;
    if (health.state !== 'down' && this.#settings.healthChecks.path === null) {
      ticked();
      this.#plan();
      return;
    }
    this.#asking = true;
    this.#probes++;
    this.#ask((verdict, error) => {
      this.#asking = false;
      if (this.#isClosed) return;
      ticked();
      onResult(verdict, error);
      this.#plan();
    });
  }

  #ask(end: (verdict: Verdict, error?: Error) => void): void {
    const { path, timeout, statuses } = this.#settings.healthChecks;
    const asked: ClientRequest = {
      method: 'GET',
      target: path ?? ANY_PATH,
      fields: new FieldLines(),
      body: null,
    };
    asked.fields.addLines(LINES);
    const connection = this.#pool.take() as ClientConnection;
    this.#deadline = setTimeout(
      () =>
        done('silent', new Error(`no answer to a check within ${timeout} ms`)),
      timeout,
    );
    const done: typeof end = (verdict, error) => {
      clearTimeout(this.#deadline);
      // A connection with a complete response is reused.
      connection.cancel(asked);
      end(verdict, error);
    };
    connection.ask(asked, {
      begun() {},
      answer: ({ status }) => {
        if (path === null || isIn(status, statuses)) done('good');
        else done('bad', new Error(`the check was answered with ${status}`));
      },
      fail: (error) => done('silent', error),
    });
  }
}

export function isIn(status: number, ranges: readonly StatusRange[]): boolean {
  return ranges.some(({ from, to }) => from <= status && status <= to);
}

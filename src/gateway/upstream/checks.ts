import {
  type ClientConnection,
  type ClientRequest,
  checkedLines,
  FieldLines,
  type OpenerOptions,
  type PoolLimits,
} from '@storegate/http1';
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
export function createChecks({
  url,
  secure,
  settings: initial,
  health,
  onResult,
  ticked,
}: ChecksParts) {
  let settings = initial;
  const pool = poolTo(url, limitsOf(initial), secure);
  let timer: NodeJS.Timeout | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let asking = false;
  let isClosed = false;
  let probes = 0;
  plan();

  return {
    use(next: ChecksParts['settings']): void {
      settings = next;
      pool.use(limitsOf(settings));
      plan();
    },
    keepOnly: pool.keepOnly,
    turn(): void {
      probes = 0;
      plan();
    },
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(deadline);
      pool.close();
    },
  };

  function plan(): void {
    clearTimeout(timer);
    if (asking || isClosed) return;
    const wait = waitingTime();
    if (wait === NEVER) return;
    // Gateways and workers must not probe at the same time.
    const jitter = 0.85 + Math.random() * 0.3;
    timer = setTimeout(work, Math.max(SHORTEST_WAIT, wait * jitter)).unref();
  }

  /** Milliseconds; `NEVER`: no action before the state changes. */
  function waitingTime(): number {
    const { healthChecks: checks, ejection } = settings;
    const { state, since, failedReturns } = health;
    if (state === 'down') {
      if (failedReturns > 0)
        return Math.min(
          ejection.probeInterval * 2 ** failedReturns,
          Math.max(LONGEST_PROBE, ejection.probeInterval),
        );
      return Math.min(FIRST_PROBE * 2 ** probes, ejection.probeInterval);
    }
    const remaining =
      state === 'recovering'
        ? since + ejection.slowStart - performance.now()
        : NEVER;
    return Math.min(
      checks.path === null ? NEVER : checks.interval,
      Math.max(remaining, FIRST_PROBE),
    );
  }

  function work(): void {
    if (health.state !== 'down' && settings.healthChecks.path === null) {
      ticked();
      plan();
      return;
    }
    asking = true;
    probes++;
    ask((verdict, error) => {
      asking = false;
      if (isClosed) return;
      ticked();
      onResult(verdict, error);
      plan();
    });
  }

  function ask(end: (verdict: Verdict, error?: Error) => void): void {
    const { path, timeout, statuses } = settings.healthChecks;
    const request: ClientRequest = {
      method: 'GET',
      target: path ?? ANY_PATH,
      fields: new FieldLines(),
      body: null,
    };
    request.fields.addLines(LINES);
    const connection = pool.take() as ClientConnection;
    deadline = setTimeout(
      () =>
        done(
          'silent',
          new Error(`no response to a check within ${timeout} ms`),
        ),
      timeout,
    );
    const done: typeof end = (verdict, error) => {
      clearTimeout(deadline);
      // A connection with a complete response is reused.
      connection.cancel(request);
      end(verdict, error);
    };
    connection.ask(request, {
      begun() {},
      receive: ({ status }) => {
        if (path === null || isIn(status, statuses)) done('good');
        else done('bad', new Error(`the check returned ${status}`));
      },
      fail: (error) => done('silent', error),
    });
  }
}

export function isIn(status: number, ranges: readonly StatusRange[]): boolean {
  return ranges.some(({ from, to }) => from <= status && status <= to);
}

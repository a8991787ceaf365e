import type { Upstream } from '../../config/config.ts';
import type { BackendReason } from '../../observe/events.ts';
import type { BackendState } from '../../observe/peers/status.ts';
import { createLastSeconds } from './last-seconds.ts';

export type Failure = Exclude<BackendReason, 'failing' | 'check'>;

export type Verdict = 'good' | 'bad' | 'silent';

export type HealthSettings = Pick<
  Upstream,
  'ejection' | 'healthChecks' | 'backends'
>;

/**
 * Milliseconds: within this time after a good response, failures in a row may be of one bad
 * operation.
 */
const QUIET = 1_000;
const LEAST = 20;
/** Each good response allows one more. */
const FIRST = 4;
const RETURNED = 64;
/** Milliseconds in which the first request let through must be safe to cancel. */
const ONLY_SAFE = 1_000;
const LEAST_SHARE = 0.1;

export type Health = ReturnType<typeof createHealth>;

/**
 * Pure: callers pass milliseconds on one clock. Methods that may change the state return whether
 * they did.
 *
 * Failures in a row detect a backend that hangs. A good response to any operation ends the row, and
 * within a second of one no row counts, so one bad operation has no effect. Only failed connections
 * count at once, because no operation causes them.
 */
export function createHealth(settings: HealthSettings, now: number) {
  let state: BackendState = 'up';
  let reason: BackendReason | null = null;
  let since = now;
  let downSince = 0;
  let failedReturns = 0;
  let current = 0;
  /** In a row. Timeouts and statuses are counted separately. */
  const row = { failures: 0, timeouts: 0, statuses: 0 };
  let goodChecks = 0;
  let badChecks = 0;
  let lastGood = Number.NEGATIVE_INFINITY;
  const last = createLastSeconds();
  /** During this recovery. */
  let under = 0;
  let good = 0;
  const trying = new Set<string>();

  function isTrying(): boolean {
    if (state !== 'recovering' || good > 0) return false;
    return settings.healthChecks.path === null || failedReturns > 0;
  }

  function cancelled(epoch: number): void {
    if (epoch === current && under > 0) under--;
  }

  /** `good`, `bad` or `cancelled` follows. */
  function begun(epoch: number, now: number): boolean {
    if (epoch !== current || state !== 'recovering') return false;
    good++;
    return tick(now);
  }

  function tick(now: number): boolean {
    if (state !== 'recovering') return false;
    const { ejection, backends } = settings;
    const { slowStart } = ejection;
    const time = now - since;
    const isOver = isTrying()
      ? // Without requests nothing else would detect it.
        failedReturns === 0 &&
        under === 0 &&
        time >= Math.max(slowStart, ONLY_SAFE)
      : time >= slowStart || (backends.length === 1 && good >= RETURNED);
    if (!isOver) return false;
    state = 'up';
    since = now;
    reason = null;
    failedReturns = 0;
    return true;
  }

  /** A backend that serves other requests is judged as if it were up. */
  function isRelapse(failure: Failure, now: number): boolean {
    if (state !== 'recovering' || failure === 'statuses') return false;
    return (
      failure === 'unreachable' ||
      failure === 'untrusted' ||
      good === 0 ||
      now - lastGood >= QUIET
    );
  }

  function reasonFor(failure: Failure, now: number): BackendReason | null {
    const { failures, timeouts, failureRate } = settings.ejection;
    const isQuiet = now - lastGood >= QUIET;
    const isEnough =
      count(failure) >= (failure === 'hanging' ? timeouts : failures);
    if (
      isEnough &&
      (isQuiet || failure === 'unreachable' || failure === 'untrusted')
    )
      return failure;
    const { all, some } = last.counts(now);
    return all >= LEAST && some / all >= failureRate ? 'failing' : null;
  }

  function count(failure: Failure): number {
    if (failure === 'statuses') return ++row.statuses;
    return failure === 'hanging' ? ++row.timeouts : ++row.failures;
  }

  function endRow(): void {
    row.failures = 0;
    row.timeouts = 0;
    row.statuses = 0;
  }

  function leave(why: BackendReason, now: number): boolean {
    if (state === 'recovering') failedReturns++;
    else downSince = now;
    reason = why;
    enter('down', now);
    return true;
  }

  function enter(next: BackendState, now: number): void {
    state = next;
    since = now;
    current++;
    endRow();
    goodChecks = 0;
    badChecks = 0;
    under = 0;
    good = 0;
    trying.clear();
    last.clear();
  }

  return {
    use(next: HealthSettings): void {
      settings = next;
    },
    get state() {
      return state;
    },
    get reason() {
      return reason;
    },
    get since() {
      return since;
    },
    get downSince() {
      return downSince;
    },
    get failedReturns() {
      return failedReturns;
    },
    /** Too few other backends could take the requests. */
    get ignoresChecks(): boolean {
      return (
        state !== 'down' &&
        badChecks === settings.healthChecks.unhealthyThreshold
      );
    },
    /** `safe`: the request may be cancelled and retried on another backend. */
    takes(safe: boolean, now: number, operation = ''): boolean {
      if (state !== 'recovering') return state === 'up';
      if (!isTrying()) return under < FIRST + good;
      if (under === 0) return safe || now - since >= ONLY_SAFE;
      // Otherwise one operation that hangs, sent repeatedly, would take every trial.
      return safe && under < FIRST && !trying.has(operation);
    },
    share(now: number): number {
      const { slowStart } = settings.ejection;
      if (state === 'up' || slowStart === 0) return 1;
      return Math.min(1, Math.max(LEAST_SHARE, (now - since) / slowStart));
    },
    /** An operator chose the path of the checks, so a good one proves that requests are served. */
    get isTrial(): boolean {
      return isTrying();
    },
    /** Returns the epoch to end the request with. */
    begin(operation = ''): number {
      if (state !== 'recovering') return current;
      if (under === 0) trying.clear();
      if (isTrying()) trying.add(operation);
      under++;
      return current;
    },
    cancelled,
    good(epoch: number, now: number): boolean {
      if (epoch !== current) return false;
      const changed = begun(epoch, now);
      last.add(now);
      endRow();
      lastGood = now;
      cancelled(epoch);
      return changed;
    },
    begun,
    /** `mayGo`: enough other backends would remain. */
    bad(
      failure: Failure,
      epoch: number,
      now: number,
      mayGo: () => boolean,
    ): boolean {
      if (epoch !== current || state === 'down') return false;
      last.add(now);
      last.mark(now);
      cancelled(epoch);
      if (!settings.ejection.enabled) return false;
      if (isRelapse(failure, now)) return leave(failure, now);
      const why = reasonFor(failure, now);
      // In these cases some responses are good.
      const isMild = why === 'failing' || why === 'statuses';
      if (why === null || (isMild && !mayGo())) return false;
      return leave(why, now);
    },
    checked(verdict: Verdict, now: number, mayGo: () => boolean): boolean {
      const { healthyThreshold, unhealthyThreshold } = settings.healthChecks;
      const isGood = verdict === 'good';
      goodChecks = isGood ? goodChecks + 1 : 0;
      badChecks = isGood ? 0 : badChecks + 1;
      if (state === 'down') {
        if (goodChecks < healthyThreshold) return false;
        enter('recovering', now);
        tick(now);
        return true;
      }
      if (badChecks < unhealthyThreshold || (verdict === 'bad' && !mayGo()))
        return false;
      return leave('check', now);
    },
    tick,
  };
}

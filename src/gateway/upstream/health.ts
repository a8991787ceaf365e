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

/**
 * Pure: callers pass milliseconds on one clock. Methods that may change the state return whether
 * they did.
 *
 * Failures in a row detect a backend that hangs. A good response to any operation ends the row, and
 * within a second of one no row counts, so one bad operation has no effect. Only failed connections
 * count at once, because no operation causes them.
 */
export class Health {
  settings: HealthSettings;
  /** Others only read these. */
  state: BackendState = 'up';
  reason: BackendReason | null = null;
  since: number;
  downSince = 0;
  failedReturns = 0;
  #epoch = 0;
  /** In a row. Timeouts and statuses are counted separately. */
  readonly #row = { failures: 0, timeouts: 0, statuses: 0 };
  #goodChecks = 0;
  #badChecks = 0;
  #lastGood = Number.NEGATIVE_INFINITY;
  readonly #last = createLastSeconds();
  /** During this recovery. */
  #under = 0;
  #good = 0;
  readonly #trying = new Set<string>();

  constructor(settings: HealthSettings, now: number) {
    this.settings = settings;
    this.since = now;
  }

  /** Too few other backends could take the requests. */
  get ignoresChecks(): boolean {
    return (
      this.state !== 'down' &&
      this.#badChecks === this.settings.healthChecks.unhealthyThreshold
    );
  }

  /** `safe`: the request may be cancelled and retried on another backend. */
  takes(safe: boolean, now: number, operation = ''): boolean {
    if (this.state !== 'recovering') return this.state === 'up';
    if (!this.isTrial) return this.#under < FIRST + this.#good;
    if (this.#under === 0) return safe || now - this.since >= ONLY_SAFE;
    // Otherwise one operation that hangs, sent repeatedly, would take every trial.
    return safe && this.#under < FIRST && !this.#trying.has(operation);
  }

  share(now: number): number {
    const { slowStart } = this.settings.ejection;
    if (this.state === 'up' || slowStart === 0) return 1;
    return Math.min(1, Math.max(LEAST_SHARE, (now - this.since) / slowStart));
  }

  /** An operator chose the path of the checks, so a good one proves that requests are served. */
  get isTrial(): boolean {
    if (this.state !== 'recovering' || this.#good > 0) return false;
    return this.settings.healthChecks.path === null || this.failedReturns > 0;
  }

  /** Returns the epoch to end the request with. */
  begin(operation = ''): number {
    if (this.state !== 'recovering') return this.#epoch;
    if (this.#under === 0) this.#trying.clear();
    if (this.isTrial) this.#trying.add(operation);
    this.#under++;
    return this.#epoch;
  }

  cancelled(epoch: number): void {
    if (epoch === this.#epoch && this.#under > 0) this.#under--;
  }

  good(epoch: number, now: number): boolean {
    if (epoch !== this.#epoch) return false;
    const changed = this.begun(epoch, now);
    this.#last.add(now);
    this.#endRow();
    this.#lastGood = now;
    this.cancelled(epoch);
    return changed;
  }

  /** `good`, `bad` or `cancelled` follows. */
  begun(epoch: number, now: number): boolean {
    if (epoch !== this.#epoch || this.state !== 'recovering') return false;
    this.#good++;
    return this.tick(now);
  }

  /** `mayGo`: enough other backends would remain. */
  bad(
    failure: Failure,
    epoch: number,
    now: number,
    mayGo: () => boolean,
  ): boolean {
    if (epoch !== this.#epoch || this.state === 'down') return false;
    this.#last.add(now);
    this.#last.mark(now);
    this.cancelled(epoch);
    if (!this.settings.ejection.enabled) return false;
    if (this.#isRelapse(failure, now)) return this.#leave(failure, now);
    const reason = this.#reasonFor(failure, now);
    // In these cases some responses are good.
    const isMild = reason === 'failing' || reason === 'statuses';
    if (reason === null || (isMild && !mayGo())) return false;
    return this.#leave(reason, now);
  }

  checked(verdict: Verdict, now: number, mayGo: () => boolean): boolean {
    const { healthyThreshold, unhealthyThreshold } = this.settings.healthChecks;
    const isGood = verdict === 'good';
    this.#goodChecks = isGood ? this.#goodChecks + 1 : 0;
    this.#badChecks = isGood ? 0 : this.#badChecks + 1;
    if (this.state === 'down') {
      if (this.#goodChecks < healthyThreshold) return false;
      this.#enter('recovering', now);
      this.tick(now);
      return true;
    }
    if (this.#badChecks < unhealthyThreshold || (verdict === 'bad' && !mayGo()))
      return false;
    return this.#leave('check', now);
  }

  tick(now: number): boolean {
    if (this.state !== 'recovering') return false;
    const { ejection, backends } = this.settings;
    const { slowStart } = ejection;
    const time = now - this.since;
    const isOver = this.isTrial
      ? // Without requests nothing else would detect it.
        this.failedReturns === 0 &&
        this.#under === 0 &&
        time >= Math.max(slowStart, ONLY_SAFE)
      : time >= slowStart || (backends.length === 1 && this.#good >= RETURNED);
    if (!isOver) return false;
    this.state = 'up';
    this.since = now;
    this.reason = null;
    this.failedReturns = 0;
    return true;
  }

  /** A backend that serves other requests is judged as if it were up. */
  #isRelapse(failure: Failure, now: number): boolean {
    if (this.state !== 'recovering' || failure === 'statuses') return false;
    return (
      failure === 'unreachable' ||
      failure === 'untrusted' ||
      this.#good === 0 ||
      now - this.#lastGood >= QUIET
    );
  }

  #reasonFor(failure: Failure, now: number): BackendReason | null {
    const { failures, timeouts, failureRate } = this.settings.ejection;
    const isQuiet = now - this.#lastGood >= QUIET;
    const isEnough =
      this.#count(failure) >= (failure === 'hanging' ? timeouts : failures);
    if (
      isEnough &&
      (isQuiet || failure === 'unreachable' || failure === 'untrusted')
    )
      return failure;
    const { all, some } = this.#last.counts(now);
    return all >= LEAST && some / all >= failureRate ? 'failing' : null;
  }

  #count(failure: Failure): number {
    if (failure === 'statuses') return ++this.#row.statuses;
    return failure === 'hanging' ? ++this.#row.timeouts : ++this.#row.failures;
  }

  #endRow(): void {
    this.#row.failures = 0;
    this.#row.timeouts = 0;
    this.#row.statuses = 0;
  }

  #leave(reason: BackendReason, now: number): boolean {
    if (this.state === 'recovering') this.failedReturns++;
    else this.downSince = now;
    this.reason = reason;
    this.#enter('down', now);
    return true;
  }

  #enter(state: BackendState, now: number): void {
    this.state = state;
    this.since = now;
    this.#epoch++;
    this.#endRow();
    this.#goodChecks = 0;
    this.#badChecks = 0;
    this.#under = 0;
    this.#good = 0;
    this.#trying.clear();
    this.#last.clear();
  }
}

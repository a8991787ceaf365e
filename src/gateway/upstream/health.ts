import type { EjectionSettings, Upstream } from '../../config/config.ts';
import type { StoreReason } from '../../observe/events.ts';
import type { StoreState } from '../../observe/peers/status.ts';
import { type Failure, FailureRow } from './failures.ts';
import { LastSeconds } from './last-seconds.ts';

/** What the answer to a check of the gateway's own was; `silent`: there was none. */
export type Verdict = 'good' | 'bad' | 'silent';

export interface HealthSettings extends Omit<EjectionSettings, 'statuses' | 'probeInterval'> {
  /** Checks in a row that take a store away and bring it back. */
  readonly unhealthy: number;
  readonly healthy: number;
  /** Whether a good check says that requests are answered too, because somebody chose what is asked. */
  readonly trusted: boolean;
  /** No other store takes its requests. */
  readonly alone: boolean;
}

export function healthSettings({ ejection, healthChecks: checks, stores }: Upstream): HealthSettings {
  const { healthyThreshold, unhealthyThreshold, path } = checks;
  return {
    ...ejection,
    healthy: healthyThreshold,
    unhealthy: unhealthyThreshold,
    trusted: path !== null,
    alone: stores.length === 1,
  };
}

/** Milliseconds without a good answer after which failures in a row mean the store, and not one bad operation. */
const QUIET = 1_000;
/** Requests of the last ten seconds below which a share says nothing. */
const LEAST = 20;
/** Requests at a time with which a return begins, once one was good. Each good one allows one more: twice as many each round. */
const FIRST = 4;
/** Good answers after which a store that has nobody beside it has returned. */
const RETURNED = 64;
/** Milliseconds for which only a request that may be given up is let through as the first. */
const ONLY_SAFE = 1_000;
/** The share with which a return begins. */
const LEAST_SHARE = 0.1;

/**
 * How one store is: `up`, `away`, or `returning`. Pure: times are given, milliseconds on one clock. The methods that may change the
 * state return whether they did.
 *
 * A store that hangs is found out by failures in a row. A single bad operation is not taken for that: a good answer to any other
 * ends the row, and within a second of one no row counts. Only what found no connection counts at once, as that is no operation's doing.
 *
 * A circuit breaker, but not that of `common/`: it has to tell failures apart, it returns little by little, and a request that began
 * before it opened says nothing later.
 */
export class Health {
  #settings: HealthSettings;
  #state: StoreState = 'up';
  #reason: StoreReason | null = null;
  #since: number;
  #awaySince = 0;
  /** Requests of an earlier time say nothing of this one. */
  #epoch = 0;
  readonly #row = new FailureRow();
  #goodChecks = 0;
  #badChecks = 0;
  #lastGood = Number.NEGATIVE_INFINITY;
  readonly #last = new LastSeconds();
  /** Of this return: requests under way, good answers, and how many may be under way. */
  #under = 0;
  #good = 0;
  /** The operations of those under way that are the first. */
  readonly #trying = new Set<string>();
  /** Returns that failed in a row. */
  #failedReturns = 0;

  constructor(settings: HealthSettings, now: number) {
    this.#settings = settings;
    this.#since = now;
  }

  get state(): StoreState {
    return this.#state;
  }

  get reason(): StoreReason | null {
    return this.#reason;
  }

  get since(): number {
    return this.#since;
  }

  get awaySince(): number {
    return this.#awaySince;
  }

  /** The last check made so many fail in a row that the store would be away, but it stays up, as too few others could take its requests. */
  get ignoresChecks(): boolean {
    return this.#state !== 'away' && this.#badChecks === this.#settings.unhealthy;
  }

  get failedReturns(): number {
    return this.#failedReturns;
  }

  use(settings: HealthSettings): void {
    this.#settings = settings;
  }

  /** Whether it takes one more request. `safe`: it may be given up and asked again elsewhere without harm. */
  takes(safe: boolean, now: number, operation = ''): boolean {
    if (this.#state !== 'returning') return this.#state === 'up';
    if (!this.#isTrial()) return this.#under < FIRST + this.#good;
    if (this.#under === 0) return safe || now - this.#since >= ONLY_SAFE;
    // One operation that hangs, asked again and again, would have every trial.
    return safe && this.#under < FIRST && !this.#trying.has(operation);
  }

  /** The share of its weight that it has, above 0 to 1. */
  share(now: number): number {
    const { slowStart } = this.#settings;
    if (this.#state === 'up' || slowStart === 0) return 1;
    return Math.min(1, Math.max(LEAST_SHARE, (now - this.#since) / slowStart));
  }

  /** The next request that begins shows whether it answers at all. */
  get isTrial(): boolean {
    return this.#state === 'returning' && this.#isTrial();
  }

  /** A request begins; returns what its end is told with. */
  begin(operation = ''): number {
    if (this.#state !== 'returning') return this.#epoch;
    if (this.#under === 0) this.#trying.clear();
    if (this.#isTrial()) this.#trying.add(operation);
    this.#under++;
    return this.#epoch;
  }

  /** A request ended without a word about the store. */
  forgone(epoch: number): void {
    if (epoch === this.#epoch && this.#under > 0) this.#under--;
  }

  /** A request was answered, to the end. */
  good(epoch: number, now: number): boolean {
    const changed = this.begun(epoch, now);
    this.whole(epoch, now);
    return changed;
  }

  /** A good response has begun whose body is still to come: `whole`, `bad` or `forgone` follows. */
  begun(epoch: number, now: number): boolean {
    if (epoch !== this.#epoch || this.#state !== 'returning') return false;
    this.#good++;
    return this.tick(now);
  }

  /** That body has come to its end. */
  whole(epoch: number, now: number): void {
    if (epoch !== this.#epoch) return;
    this.#last.add(now);
    this.#row.end();
    this.#lastGood = now;
    this.forgone(epoch);
  }

  /** `mayGo`: enough other stores would be left. */
  bad(failure: Failure, epoch: number, now: number, mayGo: () => boolean): boolean {
    if (epoch !== this.#epoch || this.#state === 'away') return false;
    this.#last.add(now);
    this.#last.mark(now);
    this.forgone(epoch);
    if (!this.#settings.enabled) return false;
    if (this.#isRelapse(failure, now)) return this.#leave(failure, now);
    const reason = this.#reasonFor(failure, now);
    if (reason === null || (isMild(reason) && !mayGo())) return false;
    return this.#leave(reason, now);
  }

  /** A check of the gateway's own, or a probe of a store that is away. */
  checked(verdict: Verdict, now: number, mayGo: () => boolean): boolean {
    const isGood = verdict === 'good';
    this.#goodChecks = isGood ? this.#goodChecks + 1 : 0;
    this.#badChecks = isGood ? 0 : this.#badChecks + 1;
    if (this.#state === 'away') {
      if (this.#goodChecks < this.#settings.healthy) return false;
      this.#enter('returning', now);
      this.tick(now);
      return true;
    }
    if (this.#badChecks < this.#settings.unhealthy || (verdict === 'bad' && !mayGo())) return false;
    return this.#leave('check', now);
  }

  /** Ends a return whose time is over. */
  tick(now: number): boolean {
    if (this.#state !== 'returning') return false;
    const { slowStart, alone } = this.#settings;
    const time = now - this.#since;
    const isOver = this.#isTrial()
      ? // Nobody asks, so nobody would find out.
        this.#failedReturns === 0 && this.#under === 0 && time >= Math.max(slowStart, ONLY_SAFE)
      : time >= slowStart || (alone && this.#good >= RETURNED);
    if (!isOver) return false;
    this.#state = 'up';
    this.#since = now;
    this.#reason = null;
    this.#failedReturns = 0;
    return true;
  }

  /** Nobody knows yet whether requests are answered, as nobody was asked who could tell. */
  #isTrial(): boolean {
    return this.#good === 0 && (!this.#settings.trusted || this.#failedReturns > 0);
  }

  /** Whether a store that returns has not. One that answers others at the same time is judged as if it were up. */
  #isRelapse(failure: Failure, now: number): boolean {
    if (this.#state !== 'returning' || failure === 'statuses') return false;
    return failure === 'unreachable' || failure === 'untrusted' || this.#good === 0 || now - this.#lastGood >= QUIET;
  }

  #reasonFor(failure: Failure, now: number): StoreReason | null {
    const { failures, timeouts, failureRate } = this.#settings;
    const isQuiet = now - this.#lastGood >= QUIET;
    const isEnough = this.#row.count(failure) >= (failure === 'hanging' ? timeouts : failures);
    if (isEnough && (isQuiet || failure === 'unreachable' || failure === 'untrusted')) return failure;
    const { all, some } = this.#last.counts(now);
    return all >= LEAST && some / all >= failureRate ? 'failing' : null;
  }

  #leave(reason: StoreReason, now: number): boolean {
    if (this.#state === 'returning') this.#failedReturns++;
    else this.#awaySince = now;
    this.#reason = reason;
    this.#enter('away', now);
    return true;
  }

  #enter(state: StoreState, now: number): void {
    this.#state = state;
    this.#since = now;
    this.#epoch++;
    this.#row.end();
    this.#goodChecks = 0;
    this.#badChecks = 0;
    this.#under = 0;
    this.#good = 0;
    this.#trying.clear();
    this.#last.clear();
  }
}

/** Reasons for which it goes only if enough others are left: it answers, and some answers are good. */
const isMild = (reason: StoreReason): boolean => reason === 'failing' || reason === 'statuses';

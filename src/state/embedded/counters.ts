import type { MaybePromise } from '../../common/maybe-promise.ts';
import { MINUTE } from '../../common/time.ts';
import { Outage } from '../../errors/outage.ts';
import { type Admission, admit, look } from '../../limits/admission.ts';
import { ban, levelAt } from '../../limits/ban-escalation.ts';
import {
  adoptWindows,
  type Counters,
  clearRefusals,
  eachWindow,
  newCounters,
  newStrikeState,
  type StrikeState,
  staleAt,
} from '../../limits/counters.ts';
import { unknownKind } from '../../limits/kinds.ts';
import type { BanEscalation, Limits } from '../../limits/limits.ts';
import { fullNameOf, NO_SCOPES, type Scopes } from '../../limits/scopes.ts';
import type { CurrentEntries } from '../journal/compactor.ts';
import { JournalWriteError } from '../journal/journal.ts';
import { type Ban, type State, UnsavedError } from '../state.ts';
import type { CounterStore, StoredCounters } from './counter-store.ts';
import { type CounterChange, PendingChanges } from './pending-changes.ts';
import { TimerWheel } from './timer-wheel.ts';

/** Milliseconds. */
const EXPIRY_INTERVAL = 1_000;
/** Subjects checked before other work gets its turn. */
const BATCH = 500;

/** Milliseconds until the next check while no request has brought an escalation. */
const RECHECK_DELAY = MINUTE;

export interface EmbeddedStateOptions {
  /** Unix milliseconds. */
  readonly clock?: () => number;
  /** Persists the counters; `null`: they end with the process. */
  readonly store?: CounterStore | null;
}

/**
 * The embedded state: one map in one process. Every step is atomic, because it never waits. Changes by requests are
 * written soon after; changes by operators are written before they take effect.
 */
export class EmbeddedState implements State {
  readonly #clock: () => number;
  readonly #store: CounterStore | null;
  readonly #bySubject = new Map<string, StoredCounters>();
  readonly #forgetting = new TimerWheel(EXPIRY_INTERVAL);
  readonly #pending = new PendingChanges();
  #timer: NodeJS.Timeout | undefined;
  /** Unix milliseconds of the next check. */
  #forgetAt = Number.POSITIVE_INFINITY;
  /** The escalation last used; `undefined` before the first request. All plans of a configuration share it. */
  #escalation: BanEscalation | null | undefined = undefined;
  #closed = false;

  constructor({ clock = Date.now, store = null }: EmbeddedStateOptions = {}) {
    this.#clock = clock;
    this.#store = store;
    const now = clock();
    for (const [subject, counters] of store?.load() ?? []) {
      const stale = staleAt(counters, undefined);
      if (stale > now) this.#keep(subject, counters, this.#lookAgainAt(stale, now));
    }
    store?.begin(this.#living());
  }

  get size(): number {
    return this.#bySubject.size;
  }

  admit(subject: string, limits: Limits, cost: number, scopes: Scopes = NO_SCOPES): Admission {
    this.#escalation = limits.escalation;
    const counters = this.#countersOf(subject, limits);
    this.#store?.mark(subject, counters);
    return admit(counters, limits, cost, this.#clock(), scopes);
  }

  look(subject: string, limits: Limits): Admission {
    return look(this.#bySubject.get(subject) ?? newCounters(limits.windows), limits, this.#clock());
  }

  liftBan(subject: string): MaybePromise<void> {
    return this.#changeKnown(subject, (counters) => {
      counters.cells.fill(0);
      counters.strikeState = null;
    });
  }

  reset(subject: string): MaybePromise<void> {
    return this.#changeKnown(subject, (counters) => {
      counters.cells.fill(0);
      if (counters.strikeState) clearRefusals(counters.strikeState);
    });
  }

  grant(subject: string, limits: Limits, units: number, name: string | null): MaybePromise<void> {
    const now = this.#clock();
    return this.#changeKnown(subject, (counters) => {
      adoptWindows(counters, limits.windows);
      eachWindow(limits.windows, (window, at, meter) => {
        if (name === null || fullNameOf(window) === name) meter.refund(counters.cells, at, window, units, now);
      });
      if (counters.strikeState) clearRefusals(counters.strikeState);
    });
  }

  bans(): Ban[] {
    const now = this.#clock();
    const banned: Ban[] = [];
    for (const [subject, { strikeState }] of this.#bySubject) {
      if (strikeState && strikeState.bannedUntil > now) banned.push(banOf(subject, strikeState));
    }
    return banned;
  }

  banLevel(subject: string, { escalation }: Limits): number {
    const strikeState = this.#bySubject.get(subject)?.strikeState;
    return strikeState && escalation ? levelAt(strikeState, escalation, this.#clock()) : 0;
  }

  ban(subject: string, limits: Limits, length: number): MaybePromise<void> {
    const now = this.#clock();
    return this.#change(subject, (counters) => {
      adoptWindows(counters, limits.windows);
      counters.strikeState ??= newStrikeState();
      if (limits.escalation) counters.strikeState.rung = levelAt(counters.strikeState, limits.escalation, now);
      ban(counters.strikeState, length, null, now);
    });
  }

  /** Drops up to `most` expired subjects. Returns whether more are due. */
  forget(most: number): boolean {
    const now = this.#clock();
    const due = this.#forgetting.takeDue(now, most);
    for (const subject of due) {
      const counters = this.#bySubject.get(subject);
      if (!counters) continue;
      const stale = staleAt(counters, this.#escalation);
      if (stale <= now) this.#bySubject.delete(subject);
      else this.#forgetting.schedule(subject, this.#lookAgainAt(stale, now));
    }
    return due.length === most;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    try {
      await this.#store?.close();
    } finally {
      this.#bySubject.clear();
    }
  }

  #living(): CurrentEntries<StoredCounters> {
    const [bySubject, pending] = [this.#bySubject, this.#pending];
    return {
      get size() {
        return bySubject.size;
      },
      // A subject whose first change is pending has no counters yet.
      *names() {
        yield* bySubject.keys();
        yield* pending.subjects();
      },
      read: (subject) => pending.after(subject, bySubject.get(subject)),
      readEntry: (subject, counters) => (pending.isEmpty ? counters : pending.after(subject, counters)),
    };
  }

  #changeKnown(subject: string, change: CounterChange): MaybePromise<void> {
    if (this.#bySubject.has(subject) || this.#pending.has(subject)) return this.#change(subject, change);
  }

  /** Throws an Outage with UnsavedError if the disk write fails; the change then has no effect. */
  #change(subject: string, change: CounterChange): MaybePromise<void> {
    return this.#store ? this.#changeOnDisk(this.#store, subject, change) : this.#apply(subject, change);
  }

  async #changeOnDisk(store: CounterStore, subject: string, change: CounterChange): Promise<void> {
    this.#pending.add(subject, change);
    try {
      await store.write(subject);
    } catch (error) {
      if (!(error instanceof JournalWriteError)) throw error;
      throw new Outage('state_unavailable', {
        cause: new UnsavedError('nothing was changed, because the data folder cannot be written', { cause: error }),
      });
    } finally {
      this.#pending.remove(subject, change);
    }
    this.#apply(subject, change);
  }

  #apply(subject: string, change: CounterChange): void {
    change(this.#bySubject.get(subject) ?? this.#keep(subject, newCounters([])));
  }

  #lookAgainAt(stale: number, now: number): number {
    return Number.isFinite(stale) ? stale : now + RECHECK_DELAY;
  }

  #countersOf(subject: string, limits: Limits): StoredCounters {
    const known = this.#bySubject.get(subject);
    if (known) return known;
    return this.#keep(subject, newCounters(limits.windows), this.#clock() + limits.windows.at(-1)!.span);
  }

  #keep(subject: string, { windows, cells, strikeState }: Counters, lookAgainAt = 0): StoredCounters {
    const counters = { windows, cells, strikeState, marked: 0 };
    this.#bySubject.set(subject, counters);
    this.#forgetting.schedule(subject, lookAgainAt);
    this.#plan(lookAgainAt);
    return counters;
  }

  /** `at`: Unix milliseconds. The wall clock may jump, so a wait is limited. */
  #plan(at: number): void {
    if (at >= this.#forgetAt) return;
    this.#forgetAt = at;
    clearTimeout(this.#timer);
    const wait = Math.min(Math.max(at - this.#clock(), EXPIRY_INTERVAL), RECHECK_DELAY);
    this.#timer = setTimeout(() => this.#forgetInTurns(), wait).unref();
  }

  #forgetInTurns(): void {
    if (this.#closed) return;
    if (this.forget(BATCH)) {
      setImmediate(() => this.#forgetInTurns());
      return;
    }
    this.#forgetAt = Number.POSITIVE_INFINITY;
    this.#plan(this.#forgetting.nextDue);
  }
}

function banOf(subject: string, { bannedUntil, bannedSince, bannedFor, rung: level }: StrikeState): Ban {
  const limit = bannedFor && unknownKind(bannedFor);
  return { subject, until: bannedUntil, since: bannedSince || null, limit, level };
}

import { DelayedRun } from '../../common/delayed-run.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import {
  type Admission,
  addStrike,
  admit,
  look,
} from '../../limits/admission.ts';
import { ban, levelAt } from '../../limits/ban-escalation.ts';
import {
  adoptWindows,
  type Counters,
  correctStrikeTimes,
  correctTimes,
  eachWindow,
  endWaits,
  newCounters,
  newStrikeState,
  type StrikeState,
  staleAt,
} from '../../limits/counters.ts';
import { unknownKind } from '../../limits/kinds.ts';
import type { Limits } from '../../limits/limits.ts';
import { fullNameOf, NO_SCOPES, type Scopes } from '../../limits/scopes.ts';
import { type Settlement, settle } from '../../limits/settlement.ts';
import type { CurrentEntries } from '../journal/compactor.ts';
import { JournalWriteError } from '../journal/journal.ts';
import type { Ban, State } from '../state.ts';
import { unsaved } from './commits.ts';
import type { CounterStore, StoredCounters } from './counter-store.ts';

/** Milliseconds between two rounds through all subjects, which drop expired counters. */
const ROUND_INTERVAL = 15_000;
/** Subjects checked before other work gets its turn. */
const BATCH = 500;

type CounterChange = (counters: Counters) => void;

interface EmbeddedStateOptions {
  /** Unix milliseconds. */
  readonly clock?: () => number;
  /** Persists the counters; `null`: they end with the process. */
  readonly store?: CounterStore | null;
}

/**
 * The embedded state: one map in one process. Every step is atomic, because it never waits. Changes
 * by requests are written soon after; changes by operators are written before they take effect.
 */
export class EmbeddedState implements State {
  readonly #clock: () => number;
  readonly #store: CounterStore | null;
  readonly #bySubject = new Map<string, StoredCounters>();
  /**
   * Changes that are not on disk yet. Disk writes include them; the live counters get each one when
   * it is on disk.
   */
  readonly #pending = new Map<string, readonly CounterChange[]>();
  readonly #nextRound = new DelayedRun(() => this.#goRound(), ROUND_INTERVAL);
  #round: Iterator<readonly [string, StoredCounters]> | null = null;
  #closed = false;

  constructor({ clock = Date.now, store = null }: EmbeddedStateOptions = {}) {
    this.#clock = clock;
    this.#store = store;
    const now = clock();
    for (const [subject, counters] of store?.load() ?? [])
      if (staleAt(counters) > now) this.#keep(subject, counters);
    store?.begin(this.#living());
  }

  get size(): number {
    return this.#bySubject.size;
  }

  admit(
    subject: string,
    limits: Limits,
    cost: number,
    scopes: Scopes = NO_SCOPES,
  ): Admission {
    return admit(
      this.#marked(subject, limits),
      limits,
      cost,
      this.#clock(),
      scopes,
    );
  }

  settle(subject: string, limits: Limits, settlement: Settlement): void {
    settle(this.#marked(subject, limits), limits, settlement, this.#clock());
  }

  strike(subject: string, limits: Limits): Admission {
    return addStrike(this.#marked(subject, limits), limits, this.#clock());
  }

  look(subject: string, limits: Limits): Admission {
    return look(
      this.#bySubject.get(subject) ?? newCounters(limits.windows),
      limits,
      this.#clock(),
    );
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
      if (counters.strikeState) endWaits(counters.strikeState);
    });
  }

  grant(
    subject: string,
    limits: Limits,
    units: number,
    name: string | null,
  ): MaybePromise<void> {
    const now = this.#clock();
    return this.#changeKnown(subject, (counters) => {
      adoptWindows(counters, limits.windows);
      correctTimes(counters, now);
      eachWindow(limits.windows, (window, at, meter) => {
        if (name === null || fullNameOf(window) === name)
          meter.refund(counters.cells, at, window, units, now);
      });
      if (counters.strikeState) endWaits(counters.strikeState);
    });
  }

  bans(): Ban[] {
    const now = this.#clock();
    const banned: Ban[] = [];
    for (const [subject, counters] of this.#bySubject) {
      if (counters.strikeState === null) continue;
      correctStrikeTimes(counters.strikeState, now);
      if (counters.strikeState.bannedUntil > now)
        banned.push(banOf(subject, counters.strikeState));
    }
    return banned;
  }

  banLevel(subject: string, { escalation }: Limits): number {
    const state = this.#bySubject.get(subject)?.strikeState;
    if (!state) return 0;
    const now = this.#clock();
    correctStrikeTimes(state, now);
    return escalation ? levelAt(state, escalation, now) : 0;
  }

  ban(subject: string, limits: Limits, length: number): MaybePromise<void> {
    const now = this.#clock();
    return this.#change(subject, (counters) => {
      adoptWindows(counters, limits.windows);
      correctTimes(counters, now);
      const { escalation } = limits;
      counters.strikeState ??= newStrikeState();
      if (escalation)
        counters.strikeState.level = levelAt(
          counters.strikeState,
          escalation,
          now,
        );
      ban(counters.strikeState, escalation, length, null, now);
    });
  }

  /**
   * Checks the next `most` subjects of a round and drops the expired ones. Returns whether more
   * remain.
   */
  forget(most: number): boolean {
    const now = this.#clock();
    this.#round ??= this.#bySubject.entries();
    for (let i = 0; i < most; i++) {
      const { done, value } = this.#round.next();
      if (done) {
        this.#round = null;
        return false;
      }
      if (staleAt(value[1]) <= now) this.#bySubject.delete(value[0]);
    }
    return true;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#nextRound.close();
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
        yield* pending.keys();
      },
      read: (subject) => this.#afterPending(subject, bySubject.get(subject)),
      readEntry: (subject, counters) =>
        pending.size === 0 ? counters : this.#afterPending(subject, counters),
    };
  }

  /** The counters after all pending changes. A subject without counters starts with empty ones. */
  #afterPending(
    subject: string,
    counters: StoredCounters | undefined,
  ): StoredCounters | undefined {
    const changes = this.#pending.get(subject);
    if (!changes) return counters;
    const changed = structuredClone(counters) ?? {
      ...newCounters([]),
      marked: 0,
    };
    for (const change of changes) change(changed);
    return changed;
  }

  #changeKnown(subject: string, change: CounterChange): MaybePromise<void> {
    if (this.#bySubject.has(subject) || this.#pending.has(subject))
      return this.#change(subject, change);
  }

  /** Throws an Outage with UnsavedError if the disk write fails; the change then has no effect. */
  #change(subject: string, change: CounterChange): MaybePromise<void> {
    return this.#store
      ? this.#changeOnDisk(this.#store, subject, change)
      : this.#apply(subject, change);
  }

  async #changeOnDisk(
    store: CounterStore,
    subject: string,
    change: CounterChange,
  ): Promise<void> {
    this.#pending.set(subject, [...(this.#pending.get(subject) ?? []), change]);
    try {
      await store.write(subject);
    } catch (error) {
      throw error instanceof JournalWriteError ? unsaved(error) : error;
    } finally {
      const left = this.#pending.get(subject)!.filter((one) => one !== change);
      if (left.length > 0) this.#pending.set(subject, left);
      else this.#pending.delete(subject);
    }
    this.#apply(subject, change);
  }

  #apply(subject: string, change: CounterChange): void {
    change(
      this.#bySubject.get(subject) ?? this.#keep(subject, newCounters([])),
    );
  }

  /** The counters, to be changed by a request and written soon after. */
  #marked(subject: string, limits: Limits): StoredCounters {
    const counters =
      this.#bySubject.get(subject) ??
      this.#keep(subject, newCounters(limits.windows));
    this.#store?.mark(subject, counters);
    return counters;
  }

  #keep(
    subject: string,
    { windows, cells, strikeState }: Counters,
  ): StoredCounters {
    const counters = { windows, cells, strikeState, marked: 0 };
    this.#bySubject.set(subject, counters);
    this.#nextRound.plan();
    return counters;
  }

  #goRound(): void {
    if (this.#closed) return;
    if (this.forget(BATCH)) setImmediate(() => this.#goRound());
    else if (this.#bySubject.size > 0) this.#nextRound.plan();
  }
}

function banOf(
  subject: string,
  { bannedUntil, bannedSince, bannedFor, level }: StrikeState,
): Ban {
  const limit = bannedFor && unknownKind(bannedFor);
  return {
    subject,
    until: bannedUntil,
    since: bannedSince || null,
    limit,
    level,
  };
}

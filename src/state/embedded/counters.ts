import { createDelayedRun } from '../../common/delayed-run.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { addStrike, admit, look } from '../../limits/admission.ts';
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
import { fullNameOf, NO_SCOPES } from '../../limits/scopes.ts';
import { settle } from '../../limits/settlement.ts';
import { RowWriteError } from '../rows/row-writer.ts';
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
export function createEmbeddedState({
  clock = Date.now,
  store = null,
}: EmbeddedStateOptions = {}) {
  const bySubject = new Map<string, StoredCounters>();
  /**
   * Changes that are not on disk yet. Disk writes include them; the live counters get each one when
   * it is on disk.
   */
  const pending = new Map<string, readonly CounterChange[]>();
  const nextRound = createDelayedRun(goRound, ROUND_INTERVAL);
  let round: Iterator<readonly [string, StoredCounters]> | null = null;
  let closed = false;

  const now = clock();
  const stale: string[] = [];
  for (const [subject, counters] of store?.load() ?? []) {
    if (staleAt(counters) > now) keep(subject, counters);
    else stale.push(subject);
  }
  store?.begin((subject) => afterPending(subject, bySubject.get(subject)));
  for (const subject of stale) store!.remove(subject);

  /**
   * Checks the next `most` subjects of a round and drops the expired ones. Returns whether more
   * remain.
   */
  function forget(most: number) {
    const now = clock();
    round ??= bySubject.entries();
    for (let i = 0; i < most; i++) {
      const { done, value } = round.next();
      if (done) {
        round = null;
        return false;
      }
      const [subject, counters] = value;
      if (staleAt(counters) > now) continue;
      bySubject.delete(subject);
      store?.remove(subject);
    }
    return true;
  }

  /** The counters after all pending changes. A subject without counters starts with empty ones. */
  function afterPending(
    subject: string,
    counters: StoredCounters | undefined,
  ): StoredCounters | undefined {
    const changes = pending.get(subject);
    if (!changes) return counters;
    const changed = structuredClone(counters) ?? {
      ...newCounters([]),
      marked: 0,
    };
    for (const change of changes) change(changed);
    return changed;
  }

  function changeExisting(
    subject: string,
    change: CounterChange,
  ): MaybePromise<void> {
    if (bySubject.has(subject) || pending.has(subject))
      return makeChange(subject, change);
  }

  /** Throws an Outage with UnsavedError if the disk write fails; the change then has no effect. */
  function makeChange(
    subject: string,
    change: CounterChange,
  ): MaybePromise<void> {
    return store
      ? changeOnDisk(store, subject, change)
      : apply(subject, change);
  }

  async function changeOnDisk(
    store: CounterStore,
    subject: string,
    change: CounterChange,
  ) {
    pending.set(subject, [...(pending.get(subject) ?? []), change]);
    try {
      await store.write(subject);
    } catch (error) {
      throw error instanceof RowWriteError ? unsaved(error) : error;
    } finally {
      const remaining = pending.get(subject)!.filter((one) => one !== change);
      if (remaining.length > 0) pending.set(subject, remaining);
      else pending.delete(subject);
    }
    apply(subject, change);
  }

  function apply(subject: string, change: CounterChange) {
    change(bySubject.get(subject) ?? keep(subject, newCounters([])));
  }

  /** The counters, to be changed by a request and written soon after. */
  function marked(subject: string, limits: Limits): StoredCounters {
    const counters =
      bySubject.get(subject) ?? keep(subject, newCounters(limits.windows));
    store?.mark(subject, counters);
    return counters;
  }

  function keep(
    subject: string,
    { windows, cells, strikeState }: Counters,
  ): StoredCounters {
    const counters = { windows, cells, strikeState, marked: 0 };
    bySubject.set(subject, counters);
    nextRound.plan();
    return counters;
  }

  function goRound() {
    if (closed) return;
    if (forget(BATCH)) setImmediate(goRound);
    else if (bySubject.size > 0) nextRound.plan();
  }

  return {
    get size() {
      return bySubject.size;
    },
    admit(subject, limits, cost, scopes = NO_SCOPES) {
      return admit(marked(subject, limits), limits, cost, clock(), scopes);
    },
    settle(subject, limits, settlement) {
      settle(marked(subject, limits), limits, settlement, clock());
    },
    strike(subject, limits) {
      return addStrike(marked(subject, limits), limits, clock());
    },
    look(subject, limits) {
      return look(
        bySubject.get(subject) ?? newCounters(limits.windows),
        limits,
        clock(),
      );
    },
    liftBan(subject) {
      return changeExisting(subject, (counters) => {
        counters.cells.fill(0);
        counters.strikeState = null;
      });
    },
    reset(subject) {
      return changeExisting(subject, (counters) => {
        counters.cells.fill(0);
        if (counters.strikeState) endWaits(counters.strikeState);
      });
    },
    grant(subject, limits, units, name) {
      const now = clock();
      return changeExisting(subject, (counters) => {
        adoptWindows(counters, limits.windows);
        correctTimes(counters, now);
        eachWindow(limits.windows, (window, at, meter) => {
          if (name === null || fullNameOf(window) === name)
            meter.refund(counters.cells, at, window, units, now);
        });
        if (counters.strikeState) endWaits(counters.strikeState);
      });
    },
    bans() {
      const now = clock();
      const banned: Ban[] = [];
      for (const [subject, counters] of bySubject) {
        if (counters.strikeState === null) continue;
        correctStrikeTimes(counters.strikeState, now);
        if (counters.strikeState.bannedUntil > now)
          banned.push(banOf(subject, counters.strikeState));
      }
      return banned;
    },
    banLevel(subject, { escalation }) {
      const state = bySubject.get(subject)?.strikeState;
      if (!state) return 0;
      const now = clock();
      correctStrikeTimes(state, now);
      return escalation ? levelAt(state, escalation, now) : 0;
    },
    ban(subject, limits, length) {
      const now = clock();
      return makeChange(subject, (counters) => {
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
    },
    forget,
    async close() {
      if (closed) return;
      closed = true;
      nextRound.close();
      try {
        await store?.close();
      } finally {
        bySubject.clear();
      }
    },
  } satisfies State & { readonly size: number; forget(most: number): boolean };
}

export type EmbeddedState = ReturnType<typeof createEmbeddedState>;

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

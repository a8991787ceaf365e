import { createCache } from '../../common/cache.ts';
import { Outage } from '../../common/errors/outage.ts';
import { type Admission, admit } from '../../limits/admission.ts';
import {
  type Counters,
  eachWindow,
  newCounters,
} from '../../limits/counters.ts';
import type { Limits } from '../../limits/limits.ts';
import { countsIn, type Scopes } from '../../limits/scopes.ts';
import { type Settlement, settle } from '../../limits/settlement.ts';
import type { BansAsOf } from '../state.ts';
import type {
  LastAdmission,
  PendingReconciliation,
} from './last-known-counters.ts';
import type { Charge, InDoubtCharges } from './remote-state.ts';
import { banIn, countersFrom, inWholeLimits, shareOf } from './shares.ts';

/** Maximum per outage; requests of further subjects fail with `Outage`. */
const MAX_SUBJECTS = 200_000;
/** Subjects whose last admission is kept for an outage. */
const MAX_LAST_KNOWN = 50_000;

interface LocalCount {
  readonly number: number;
  readonly limits: Limits;
  /** The limits that this gateway applies: `limits`, or its share. */
  readonly share: Limits;
  readonly counters: Counters;
  /** The cells at the last response of Redis. The difference was admitted locally. */
  readonly before: readonly number[];
  readonly bannedBefore: number;
  /** Units per window that Redis charged after all. */
  readonly charged: number[];
}

interface LocalCountersOptions {
  readonly gateway: string;
  readonly clock: () => number;
  /** Number of gateways that share the remaining quota; 1: not divided. */
  readonly gateways: () => number;
  readonly changed?: (subject: string) => void;
  /** Called when limits changed. */
  readonly superseded?: (subject: string, due: PendingReconciliation) => void;
}

/** Counts during an outage from the last known values, and collects what Redis must add. */
export function createLocalCounters({
  changed,
  clock,
  gateway,
  superseded,
  gateways,
}: LocalCountersOptions) {
  const admissions = createCache<LastAdmission>(MAX_LAST_KNOWN);
  const counts = new Map<string, LocalCount>();
  const inDoubtCounts = new Map<string, number>();
  let reconciliations = 0;
  /**
   * Tracks requests decided here that Redis may still charge. Until that is known, `take`
   * waits.
   */
  const inDoubt: Omit<InDoubtCharges, 'banned'> = {
    begin: (subject) =>
      void inDoubtCounts.set(subject, (inDoubtCounts.get(subject) ?? 0) + 1),
    end: (subject, charged, scopes) => {
      const others = inDoubtCounts.get(subject)! - 1;
      if (others === 0) inDoubtCounts.delete(subject);
      else inDoubtCounts.set(subject, others);
      const count = counts.get(subject);
      if (count) addCharge(count, charged, scopes);
    },
  };

  function restore(subject: string, last: LastAdmission) {
    admissions.set(subject, last);
  }

  /**
   * Decides locally. Throws `Outage` for a new subject above `MAX_SUBJECTS`, because memory must be
   * bounded.
   */
  function admitHere({ subject, limits, cost, scopes }: Charge): Admission {
    const now = clock();
    const count = countOf(subject, limits, now);
    const decided = admit(count.counters, count.share, cost, now, scopes);
    const admission =
      count.share === limits ? decided : inWholeLimits(decided, limits);
    admissions.set(subject, {
      admission,
      divided: count.share !== limits,
    });
    changed?.(subject);
    return admission;
  }

  /** As `take`, as far as known, without ending the count. */
  function dueOf(subject: string): PendingReconciliation | null {
    const count = counts.get(subject);
    if (!count) return null;
    const now = clock();
    const { number, counters, before, bannedBefore, limits, charged } = count;
    const windows: { units: number; openedAt: number }[] = [];
    eachWindow(counters.windows, (window, at, meter) => {
      const last = charged[windows.length]!;
      const units =
        meter.used(counters.cells, at, window, now) -
        meter.used(before, at, window, now) -
        last;
      windows.push({
        units: Math.max(0, units),
        openedAt: meter.openedAt(counters.cells, at, window, now),
      });
    });
    const ban = banIn(counters, bannedBefore, limits);
    if (ban === null && windows.every(({ units }) => units === 0)) return null;
    return {
      limits,
      reconciliation: { gateway, number, ban, windows },
    };
  }

  function countOf(subject: string, limits: Limits, now: number): LocalCount {
    const counted = counts.get(subject);
    if (counted?.limits === limits) return counted;
    if (!counted && counts.size >= MAX_SUBJECTS)
      throw new Outage('state_unavailable', {
        cause: 'too many subjects to count here',
      });
    const past = counted ? dueOf(subject) : null;
    if (past) superseded?.(subject, past);
    const parts = Math.max(1, gateways());
    const share = parts === 1 ? limits : shareOf(limits, parts);
    const last = admissions.get(subject);
    const sharers = last?.divided ? 1 : parts;
    const counters = last
      ? countersFrom(last.admission, share, sharers, now)
      : newCounters(share.windows);
    const count = {
      number: ++reconciliations,
      limits,
      share,
      counters,
      before: [...counters.cells],
      bannedBefore: counters.strikeState?.bannedUntil ?? 0,
      charged: limits.windows.map(() => 0),
    };
    counts.set(subject, count);
    return count;
  }

  return {
    inDoubt,
    get size() {
      return counts.size;
    },
    get known() {
      return admissions.size;
    },
    has(subject: string) {
      return counts.has(subject);
    },
    subjects() {
      return [...counts.keys()];
    },
    note(subject: string, admission: Admission) {
      restore(subject, { admission, divided: false });
      changed?.(subject);
    },
    restore,
    /** `null`: unknown. */
    lastKnown(subject: string): LastAdmission | null {
      return admissions.peek(subject) ?? null;
    },
    bans(): BansAsOf['bans'] {
      const now = clock();
      const found: BansAsOf['bans'][number][] = [];
      for (const subject of admissions.keys()) {
        const { bannedUntil, violated } = admissions.peek(subject)!.admission;
        if (bannedUntil > now)
          found.push({ subject, until: bannedUntil, limit: violated ?? null });
      }
      return found;
    },
    /** All subjects with a last admission or a count, possibly twice. */
    *names(): Iterable<string> {
      yield* admissions.keys();
      yield* counts.keys();
    },
    admit: admitHere,
    /** Throws as `admit`. */
    settle(subject: string, limits: Limits, settlement: Settlement) {
      const now = clock();
      settle(countOf(subject, limits, now).counters, limits, settlement, now);
      changed?.(subject);
    },
    /**
     * Limits a charge of Redis to this gateway's share until the local counts are added there.
     * Redis may also lack the counts of other gateways and would admit their shares again.
     */
    hold(charge: Charge): Admission {
      const admission = admitHere(charge);
      addCharge(counts.get(charge.subject)!, charge.cost, charge.scopes);
      return admission;
    },
    /**
     * Removes and returns what Redis must add for a subject. `null`: nothing, or not yet known.
     */
    take(subject: string): PendingReconciliation | null {
      if (inDoubtCounts.has(subject)) return null;
      const due = dueOf(subject);
      counts.delete(subject);
      return due;
    },
    due: dueOf,
    forget(subject: string) {
      admissions.delete(subject);
      changed?.(subject);
    },
  };
}

export type LocalCounters = ReturnType<typeof createLocalCounters>;

function addCharge(
  { limits: { windows }, charged }: LocalCount,
  units: number,
  scopes: Scopes,
): void {
  for (const [i, window] of windows.entries())
    if (countsIn(window, scopes)) charged[i]! += units;
}

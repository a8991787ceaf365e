import { Cache } from '../../common/cache.ts';
import { Outage } from '../../common/errors/outage.ts';
import { type Admission, admit } from '../../limits/admission.ts';
import {
  type Counters,
  eachWindow,
  newCounters,
} from '../../limits/counters.ts';
import type { Limits } from '../../limits/limits.ts';
import { countsIn, NO_SCOPES, type Scopes } from '../../limits/scopes.ts';
import { type Settlement, settle } from '../../limits/settlement.ts';
import type { BansAsOf } from '../state.ts';
import type {
  LastAdmission,
  PendingReconciliation,
} from './last-known-counters.ts';
import type { InDoubtCharges } from './remote-state.ts';
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
export class LocalCounters {
  readonly #options: LocalCountersOptions;
  readonly #known = new Cache<LastAdmission>(MAX_LAST_KNOWN);
  readonly #counts = new Map<string, LocalCount>();
  readonly #inDoubt = new Map<string, number>();
  #reconciliations = 0;

  constructor(options: LocalCountersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#counts.size;
  }

  get known(): number {
    return this.#known.size;
  }

  has(subject: string): boolean {
    return this.#counts.has(subject);
  }

  subjects(): string[] {
    return [...this.#counts.keys()];
  }

  note(subject: string, admission: Admission): void {
    this.restore(subject, { admission, divided: false });
    this.#options.changed?.(subject);
  }

  restore(subject: string, known: LastAdmission): void {
    this.#known.set(subject, known);
  }

  /** `null`: unknown. */
  lastKnown(subject: string): LastAdmission | null {
    return this.#known.peek(subject) ?? null;
  }

  bans(): BansAsOf['bans'] {
    const now = this.#options.clock();
    const found: BansAsOf['bans'][number][] = [];
    for (const subject of this.#known.keys()) {
      const { bannedUntil, violated } = this.#known.peek(subject)!.admission;
      if (bannedUntil > now)
        found.push({ subject, until: bannedUntil, limit: violated ?? null });
    }
    return found;
  }

  /** All subjects with a last admission or a count, possibly twice. */
  *names(): Iterable<string> {
    yield* this.#known.keys();
    yield* this.#counts.keys();
  }

  /**
   * Decides locally. Throws `Outage` for a new subject above `MAX_SUBJECTS`, because memory must be
   * bounded.
   */
  admit(
    subject: string,
    limits: Limits,
    cost: number,
    scopes: Scopes = NO_SCOPES,
  ): Admission {
    const now = this.#options.clock();
    const count = this.#countOf(subject, limits, now);
    const decided = admit(count.counters, count.share, cost, now, scopes);
    const admission =
      count.share === limits ? decided : inWholeLimits(decided, limits);
    this.#known.set(subject, { admission, divided: count.share !== limits });
    this.#options.changed?.(subject);
    return admission;
  }

  /** Throws as `admit`. */
  settle(subject: string, limits: Limits, settlement: Settlement): void {
    const now = this.#options.clock();
    settle(
      this.#countOf(subject, limits, now).counters,
      limits,
      settlement,
      now,
    );
    this.#options.changed?.(subject);
  }

  /**
   * Limits a charge of Redis to this gateway's share until the local counts are added there.
   * Redis may also lack the counts of other gateways and would admit their shares again.
   */
  hold(
    subject: string,
    limits: Limits,
    cost: number,
    scopes: Scopes = NO_SCOPES,
  ): Admission {
    const admission = this.admit(subject, limits, cost, scopes);
    addCharge(this.#counts.get(subject)!, cost, scopes);
    return admission;
  }

  /**
   * Tracks requests decided here that Redis may still charge. Until that is known, `take`
   * waits.
   */
  readonly inDoubt: Omit<InDoubtCharges, 'banned'> = {
    begin: (subject) =>
      void this.#inDoubt.set(subject, (this.#inDoubt.get(subject) ?? 0) + 1),
    end: (subject, charged, scopes) => {
      const others = this.#inDoubt.get(subject)! - 1;
      if (others === 0) this.#inDoubt.delete(subject);
      else this.#inDoubt.set(subject, others);
      const count = this.#counts.get(subject);
      if (count) addCharge(count, charged, scopes);
    },
  };

  /**
   * Removes and returns what Redis must add for a subject. `null`: nothing, or not yet known.
   */
  take(subject: string): PendingReconciliation | null {
    if (this.#inDoubt.has(subject)) return null;
    const due = this.due(subject);
    this.#counts.delete(subject);
    return due;
  }

  /** As `take`, as far as known, without ending the count. */
  due(subject: string): PendingReconciliation | null {
    const count = this.#counts.get(subject);
    if (!count) return null;
    const now = this.#options.clock();
    const { number, counters, before, bannedBefore, limits, charged } = count;
    const windows: { units: number; openedAt: number }[] = [];
    eachWindow(counters.windows, (window, at, meter) => {
      const known = charged[windows.length]!;
      const units =
        meter.used(counters.cells, at, window, now) -
        meter.used(before, at, window, now) -
        known;
      windows.push({
        units: Math.max(0, units),
        openedAt: meter.openedAt(counters.cells, at, window, now),
      });
    });
    const ban = banIn(counters, bannedBefore, limits);
    if (ban === null && windows.every(({ units }) => units === 0)) return null;
    return {
      limits,
      reconciliation: { gateway: this.#options.gateway, number, ban, windows },
    };
  }

  forget(subject: string): void {
    this.#known.delete(subject);
    this.#options.changed?.(subject);
  }

  #countOf(subject: string, limits: Limits, now: number): LocalCount {
    const counted = this.#counts.get(subject);
    if (counted?.limits === limits) return counted;
    if (!counted && this.#counts.size >= MAX_SUBJECTS)
      throw new Outage('state_unavailable', {
        cause: 'too many subjects to count here',
      });
    const past = counted ? this.due(subject) : null;
    if (past) this.#options.superseded?.(subject, past);
    const gateways = Math.max(1, this.#options.gateways());
    const share = gateways === 1 ? limits : shareOf(limits, gateways);
    const known = this.#known.get(subject);
    const sharers = known?.divided ? 1 : gateways;
    const counters = known
      ? countersFrom(known.admission, share, sharers, now)
      : newCounters(share.windows);
    const count = {
      number: ++this.#reconciliations,
      limits,
      share,
      counters,
      before: [...counters.cells],
      bannedBefore: counters.strikeState?.bannedUntil ?? 0,
      charged: limits.windows.map(() => 0),
    };
    this.#counts.set(subject, count);
    return count;
  }
}

function addCharge(
  { limits: { windows }, charged }: LocalCount,
  units: number,
  scopes: Scopes,
): void {
  for (const [i, window] of windows.entries())
    if (countsIn(window, scopes)) charged[i]! += units;
}

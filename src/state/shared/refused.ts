import { Cache } from '../../common/cache.ts';
import type { Admission, Reading } from '../../limits/admission.ts';
import { kindOf } from '../../limits/kinds.ts';
import type { Limits, Window } from '../../limits/limits.ts';

/** Refusals of one subject that the backend has yet to hear of. Unix milliseconds by its clock, oldest first. */
export interface Strikes {
  readonly subject: string;
  readonly limits: Limits;
  readonly times: readonly number[];
  /** The limit that refused last; `null`: not known. */
  readonly violated: Window | null;
}

export interface RefusedOptions {
  /** The backend's clock as far as it is known here, Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds after which the backend is asked again, whatever is remembered: a message may have been lost. */
  readonly keepFor: number;
  /** How many subjects are remembered: at least so many, at most twice as many. */
  readonly size?: number;
}

interface Entry {
  readonly limits: Limits;
  readonly cost: number;
  readonly admission: Admission;
  /** When the backend may say something else, by its clock. */
  readonly until: number;
  /** A ban began with strikes that were sent on, and the caller does not know yet. */
  banBegins: boolean;
}

/**
 * Subjects that are known to be refused, and answered without asking the backend. This only ever refuses, and only what the
 * backend would refuse too; it leaves every other request to the backend. It gathers strikes to be sent on.
 */
export class Refused {
  readonly #clock: () => number;
  readonly #keepFor: number;
  readonly #entries: Cache<Entry>;
  readonly #strikes = new Map<string, { limits: Limits; times: number[]; violated: Window | null }>();
  #changes = 0;

  constructor({ clock, keepFor, size = 50_000 }: RefusedOptions) {
    this.#clock = clock;
    this.#keepFor = keepFor;
    this.#entries = new Cache(size);
  }

  /** Take this before you ask the backend and give it to `remember`: an answer older than a change is not kept. */
  get changes(): number {
    return this.#changes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The refusal of a request that the backend would refuse too; `null` where the backend must decide. */
  answer(subject: string, limits: Limits, cost: number): Admission | null {
    const entry = this.#entries.get(subject);
    if (entry?.limits !== limits) return null;
    const now = Math.max(this.#clock(), entry.admission.now);
    if (now >= entry.until || now >= entry.admission.now + this.#keepFor) {
      this.#entries.delete(subject);
      return null;
    }
    const refusal = allResetAsWhole(limits) ? recount(entry.admission, cost, now) : repeat(entry, cost, now);
    if (!refusal) return null;
    if (refusal.verdict === 'limited')
      return {
        ...refusal,
        strikes: refusal.strikes + this.#strike(subject, entry.limits, refusal, entry.admission.now),
      };
    const { banBegins } = entry;
    entry.banBegins = false;
    return { ...refusal, banBegins };
  }

  /** Keeps a refusal by the backend, unless something changed since `changes` was taken. An admission ends what was kept. */
  remember(subject: string, limits: Limits, cost: number, admission: Admission, changes: number): void {
    if (admission.verdict === 'admitted') this.#entries.delete(subject);
    if (admission.verdict === 'admitted' || changes !== this.#changes) return;
    const until = Math.min(admission.bannedUntil || admission.retryAt, ...givesBackAt(admission));
    this.#entries.set(subject, {
      limits,
      cost,
      admission: { ...admission, banBegins: false },
      until,
      banBegins: false,
    });
  }

  /** Takes in what came of strikes that were sent on. A ban takes the place of the refusal. Answers whether one began. */
  struck({ subject, limits }: Strikes, standing: Admission, changes: number): boolean {
    const entry = this.#entries.get(subject);
    if (entry?.limits !== limits || changes !== this.#changes) return false;
    const banned = standing.verdict === 'banned';
    const { violated, retryAt } = entry.admission;
    const admission: Admission = {
      ...standing,
      verdict: banned ? 'banned' : 'limited',
      violated,
      retryAt: Math.max(retryAt, standing.bannedUntil),
      banBegins: false,
    };
    const until = Math.min(standing.bannedUntil || retryAt, ...givesBackAt(admission));
    this.#entries.set(subject, { ...entry, admission, until, banBegins: banned && standing.banBegins });
    return banned && standing.banBegins;
  }

  /** Something about the subject has changed. */
  forget(subject: string): void {
    this.#changes++;
    this.#entries.delete(subject);
    this.#strikes.delete(subject);
  }

  /** Anything may have changed. */
  clear(): void {
    this.#changes++;
    this.#entries.clear();
    this.#strikes.clear();
  }

  /** Takes the strikes of up to `most` subjects, to be sent on. */
  takeStrikes(most: number): Strikes[] {
    const taken: Strikes[] = [];
    for (const [subject, strikes] of this.#strikes) {
      if (taken.length === most) break;
      this.#strikes.delete(subject);
      taken.push({ subject, ...strikes });
    }
    return taken;
  }

  /** Answers how many strikes of the subject are waiting. */
  #strike(subject: string, limits: Limits, { now, violated }: Admission, toldAt: number): number {
    const { ladder } = limits;
    if (!ladder || now < toldAt + ladder.grace) return 0;
    const strikes = this.#strikes.get(subject) ?? { limits, times: [], violated };
    strikes.violated = violated;
    // More strikes than make a ban tell the backend nothing new.
    if (strikes.times.length < ladder.strikes) strikes.times.push(now);
    this.#strikes.set(subject, strikes);
    return strikes.times.length;
  }
}

function allResetAsWhole({ windows }: Limits): boolean {
  return windows.every((window) => kindOf(window).resetsAsWhole);
}

/** When units next return to windows where they return bit by bit; until then the readings hold. */
function givesBackAt({ readings }: Admission): number[] {
  return readings.filter(({ window }) => !kindOf(window).resetsAsWhole).map(({ resetAt }) => resetAt);
}

/** Windows that reset as a whole only lose units until they do: a known reading refuses any cost above what remains. */
function recount(known: Admission, cost: number, now: number): Admission | null {
  const readings = known.readings.map((reading) => current(reading, now));
  const violated = readings.filter(({ remaining }) => cost > remaining);
  if (known.verdict === 'limited' && violated.length === 0) return null;
  const retryAt = Math.max(known.bannedUntil, ...violated.map(({ resetAt }) => resetAt));
  return { ...known, now, readings, retryAt, violated: violated.at(-1)?.window ?? null };
}

/** A window that counts nothing is not open, so its reset moves with the clock. */
function current(reading: Reading, now: number): Reading {
  const { window, remaining, resetAt } = reading;
  if (now < resetAt && remaining < window.limit) return reading;
  return { window, remaining: window.limit, resetAt: now + window.span };
}

/** With a window whose units return bit by bit, only the same cost gets the same answer; the state decides any other. */
function repeat({ admission, cost: refusedCost }: Entry, cost: number, now: number): Admission | null {
  if (cost !== refusedCost) return null;
  return {
    ...admission,
    now,
    readings: admission.readings.map((reading) =>
      kindOf(reading.window).resetsAsWhole ? current(reading, now) : reading,
    ),
  };
}

import type { Admission, Reading } from '../../limits/admission.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import { LedgerError } from '../state.ts';

/** A set of limits as the scripts take it: window ids, windows, ladder. */
export type PackedLimits = readonly [ids: string, windows: string, ladder: string];

const packed = new WeakMap<Limits, PackedLimits>();

/** Packs each set of limits once: a plan's clients share theirs. */
export function packLimits(limits: Limits): PackedLimits {
  let result = packed.get(limits);
  if (!result) {
    result = [limits.windows.map(idOf).join(','), JSON.stringify(limits.windows.flatMap(numbersOf)), ladderOf(limits)];
    packed.set(limits, result);
  }
  return result;
}

/** What `windowId` is in process: the same kind and span is the same counter. */
function idOf({ kind, span }: Window): string {
  return kind === 'fixed' ? `${span}` : `s${span}`;
}

function numbersOf({ kind, span, limit }: Window): number[] {
  return [kind === 'fixed' ? 0 : 1, span, limit];
}

function ladderOf({ ladder }: Limits): string {
  if (!ladder) return '';
  return JSON.stringify([ladder.strikes, ladder.within, ladder.grace, ladder.forget, ...ladder.lengths]);
}

/** Thrown for a subject whose key in Redis holds something else. */
export class ForeignKeyError extends LedgerError {
  override name = 'ForeignKeyError';
  constructor(subject: string) {
    super(`the Redis key of ${subject} holds something that is no ledger`);
  }
}

const VERDICTS = ['admitted', 'limited', 'banned'] as const;

/** Reads the answer of a script, one request after the other. */
export class AnswerReader {
  readonly now: number;
  readonly #numbers: readonly number[];
  #at = 1;

  constructor(answer: unknown) {
    this.#numbers = answer as readonly number[];
    this.now = this.#numbers[0]!;
  }

  /** The next request's admission. Throws ForeignKeyError. */
  admission(subject: string, { windows }: Limits): Admission {
    const verdict = this.#next();
    if (verdict === -1) throw new ForeignKeyError(subject);
    const readings = this.#readings(windows);
    if (verdict === 0 || verdict === 3) {
      const strikes = verdict === 3 ? this.#next() : 0;
      return {
        verdict: 'admitted',
        now: this.now,
        readings,
        retryAt: 0,
        violated: null,
        strikes,
        bannedUntil: 0,
        banBegins: false,
      };
    }
    return this.#refused(VERDICTS[verdict]!, windows, readings);
  }

  /** The next request's standing: an admission with all about its conduct, whatever the verdict. */
  standing(subject: string, { windows }: Limits): Admission {
    const verdict = this.#next();
    if (verdict === -1) throw new ForeignKeyError(subject);
    return this.#refused(VERDICTS[verdict]!, windows, this.#readings(windows));
  }

  #refused(verdict: Admission['verdict'], windows: readonly Window[], readings: Reading[]): Admission {
    const violated = this.#next();
    const fitsAt = this.#next();
    const strikes = this.#next();
    const bannedUntil = this.#next();
    const banBegins = this.#next() === 1;
    const retryAt = Math.max(fitsAt, bannedUntil);
    return {
      verdict,
      now: this.now,
      readings,
      retryAt,
      violated: windows[violated - 1] ?? null,
      strikes,
      bannedUntil,
      banBegins,
    };
  }

  #readings(windows: readonly Window[]): Reading[] {
    const readings: Reading[] = [];
    for (const window of windows) readings.push({ window, remaining: this.#next(), resetAt: this.#next() });
    return readings;
  }

  #next(): number {
    return this.#numbers[this.#at++]!;
  }
}

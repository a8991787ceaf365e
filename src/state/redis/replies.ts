import { Outage } from '../../common/errors/outage.ts';
import {
  type Admission,
  admitted,
  hasExcess,
  type Reading,
  readingOf,
} from '../../limits/admission.ts';
import { kindWithCode, unknownKind } from '../../limits/kinds.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import { type Ban, CountersError } from '../state.ts';
import { type Connection, reconnect } from './client.ts';
import { keyOf } from './key-names.ts';

/**
 * A reply that its command cannot have. Replies on this connection belong to other commands, so it
 * must be dropped.
 */
export class UnexpectedReply extends Error {
  override name = 'UnexpectedReply';

  constructor(what: string) {
    super(`the reply of Redis to ${what} has the wrong shape`);
  }
}

const isTextOrNull = (reply: unknown): reply is string | null =>
  reply === null || typeof reply === 'string';
export const isInteger = (reply: unknown): reply is number =>
  Number.isSafeInteger(reply);
export const isList = (reply: unknown): reply is unknown[] =>
  Array.isArray(reply);
export const isTextList = (reply: unknown): reply is string[] =>
  Array.isArray(reply) && reply.every((text) => typeof text === 'string');

/**
 * `work`: a reply, or its promise. Throws UnexpectedReply and drops the connection if the reply has
 * another type.
 */
export async function checkShape<T>(
  redis: Connection,
  what: string,
  work: unknown,
  hasShape: (reply: unknown) => reply is T,
): Promise<T> {
  const reply = await work;
  if (hasShape(reply)) return reply;
  reconnect(redis);
  throw new UnexpectedReply(what);
}

/** `null`: missing. Throws as `checkShape`. */
export function lookedUp(
  redis: Connection,
  work: unknown,
): Promise<string | null> {
  return checkShape(redis, 'a look-up of a key', work, isTextOrNull);
}

/** The Redis key holds another type of data, and the script has changed nothing. */
const NO_COUNTERS = -1;

/** 1: done; 0: the reconciliation was known. */
const REPLIES = {
  liftBan: [1],
  reset: [1],
  ban: [1, NO_COUNTERS],
  grant: [1, NO_COUNTERS],
  charge: [1, 0, NO_COUNTERS],
  settle: [1, NO_COUNTERS],
};

export type CounterScript = keyof typeof REPLIES;

/** Throws CountersError if the key holds other data, and UnexpectedReply. */
export function checkDone(
  script: CounterScript,
  reply: unknown,
  subject: string,
): void {
  if (!REPLIES[script].includes(reply as number))
    throw new UnexpectedReply(script);
  if (reply === NO_COUNTERS) throw foreignKey(subject);
}

/** `error` is a CountersError, or an error of Redis or the connection. */
export function unexpectedReply(subject: string, error: unknown): Outage {
  // Some scripts, such as `liftBan`, do not check the type of their only key first.
  const isForeign =
    error instanceof Error && /\bWRONGTYPE\b/.test(error.message);
  return new Outage('state_unavailable', {
    cause: isForeign ? foreignKey(subject) : error,
  });
}

function foreignKey(subject: string): CountersError {
  return new CountersError(
    `the Redis key ${keyOf.counters(subject)} holds other data than counters: rename or delete it`,
  );
}

type StrikeReading = readonly [
  end: number,
  level: number,
  notForgotten: number,
  since: number,
  code?: number,
  span?: number,
  limit?: number,
  scope?: string,
];

function readStrikes(reply: unknown): StrikeReading {
  const isStrikeReading =
    isList(reply) && reply.length >= 2 && reply.slice(0, 7).every(isInteger);
  if (
    !isStrikeReading ||
    !(reply[7] === undefined || typeof reply[7] === 'string')
  )
    throw new UnexpectedReply('a strike state');
  return reply as unknown as StrikeReading;
}

/** Throws UnexpectedReply. */
export function readLevel(reply: unknown): number {
  return readStrikes(reply)[1];
}

/** Throws UnexpectedReply. */
export function readBan(subject: string, reply: unknown): Ban | null {
  const [until, , level, since, code, span = 0, limit = 0, scope] =
    readStrikes(reply);
  if (until === 0) return null;
  const kind = code === undefined ? null : kindWithCode(code);
  return {
    subject,
    until,
    since,
    limit: kind && unknownKind({ kind, span, limit, scope }),
    level,
  };
}

const VERDICTS = ['admitted', 'limited', 'banned'] as const;
const ADMITTED = 0;
const ADMITTED_WITH_STRIKES = 3;

/**
 * Reads a reply of `admit`, `look` or `strike` request by request. Its methods throw
 * UnexpectedReply.
 */
export class ReplyReader {
  readonly now: number;
  readonly #numbers: readonly number[];
  #at = 1;
  /** Whether a reading of the last request has excess. */
  #exceeds = false;

  constructor(reply: unknown) {
    if (!isList(reply) || !reply.every(isInteger) || reply.length === 0)
      throw new UnexpectedReply('a decision');
    this.#numbers = reply;
    this.now = this.#numbers[0]!;
  }

  end(): void {
    if (this.#at !== this.#numbers.length)
      throw new UnexpectedReply('a decision');
  }

  /** Throws CountersError. */
  admission(subject: string, { windows }: Limits): Admission {
    const verdict = this.#verdict(subject);
    const readings = this.#readings(windows);
    if (verdict === ADMITTED || verdict === ADMITTED_WITH_STRIKES) {
      const strikes = verdict === ADMITTED_WITH_STRIKES ? this.#next() : 0;
      return this.#withExcess(admitted(this.now, readings, strikes));
    }
    return this.#refused(VERDICTS[verdict]!, windows, readings);
  }

  /** Includes the strike state, whatever the verdict. Throws CountersError. */
  admissionWithStrikes(subject: string, { windows }: Limits): Admission {
    const verdict = this.#verdict(subject);
    return this.#refused(VERDICTS[verdict]!, windows, this.#readings(windows));
  }

  #verdict(subject: string): number {
    const verdict = this.#next();
    if (verdict === NO_COUNTERS) throw foreignKey(subject);
    if (VERDICTS[verdict] === undefined && verdict !== ADMITTED_WITH_STRIKES)
      throw new UnexpectedReply('a decision');
    return verdict;
  }

  #refused(
    verdict: Admission['verdict'],
    windows: readonly Window[],
    readings: Reading[],
  ): Admission {
    const number = this.#next();
    const violated = windows[number - 1] ?? null;
    if (!violated && (number !== 0 || verdict === 'limited'))
      throw new UnexpectedReply('a decision');
    const fitsAt = this.#next();
    const strikes = this.#next();
    const freeRefusals = this.#next();
    const bannedUntil = this.#next();
    const banLevel = this.#next();
    const banBegins = banLevel > 0;
    const admission = {
      verdict,
      now: this.now,
      readings,
      retryAt: Math.max(fitsAt, bannedUntil),
      violated,
      strikes,
      freeRefusals,
      bannedUntil,
      banBegins,
    };
    return this.#withExcess(banBegins ? { ...admission, banLevel } : admission);
  }

  #withExcess(admission: Admission): Admission {
    return this.#exceeds ? { ...admission, exceeds: true } : admission;
  }

  #readings(windows: readonly Window[]): Reading[] {
    const readings: Reading[] = [];
    this.#exceeds = false;
    for (const window of windows) {
      const reading = readingOf(window, this.#next(), this.#next());
      if (hasExcess(reading)) this.#exceeds = true;
      readings.push(reading);
    }
    return readings;
  }

  #next(): number {
    const number = this.#numbers[this.#at++];
    if (number === undefined) throw new UnexpectedReply('a decision');
    return number;
  }
}

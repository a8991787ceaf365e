import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { CountersError } from '../state.ts';
import { keyOf } from './key-names.ts';
import { lookedUp } from './shapes.ts';

/**
 * Milliseconds without the mark on one connection before the data counts as lost. Sentinels demote a restarted master
 * sooner.
 */
export const LOST_AFTER = 30_000;

/** `null`: missing, and Redis has its data. */
export type LookUp = (name: string) => Promise<string | null>;

/** Distinguishes unknown keys from keys that Redis has lost. */
export interface DataCheck {
  /** Accepts the current data as complete. */
  learn(): Promise<void>;
  /** Throws CountersError if the text is missing and Redis may have lost its data. */
  readonly lookUp: LookUp;
  /** Throws CountersError if Redis may have lost its data. */
  confirm(): Promise<void>;
}

export interface DataCheckOptions {
  readonly lost: () => void;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

/**
 * A mark next to the keys. A Redis without its data lacks the mark, as does a lagging replica; a key missing there may
 * still exist.
 */
export class DataMark implements DataCheck {
  readonly #redis: Redis;
  readonly #lost: () => void;
  readonly #clock: () => number;
  #known: string | null = null;
  #missingSince: number | null = null;

  constructor(redis: Redis, { lost, clock = () => performance.now() }: DataCheckOptions) {
    this.#redis = redis;
    this.#lost = lost;
    this.#clock = clock;
    redis.on('close', () => {
      this.#missingSince = null;
    });
  }

  async learn(): Promise<void> {
    await this.#redis.set(keyOf.dataMark, randomUUID(), 'NX');
    this.#known = await this.#redis.get(keyOf.dataMark);
    this.#missingSince = null;
  }

  readonly lookUp: LookUp = async (name) => {
    const { text, mark, isMaster } = await this.#read(name);
    if (text === null) await this.#confirm(mark, isMaster);
    return text;
  };

  async confirm(): Promise<void> {
    const { mark, isMaster } = await this.#read(keyOf.dataMark);
    await this.#confirm(mark, isMaster);
  }

  async #read(name: string) {
    // One connection, so that the same Redis replies to both.
    const [texts, role] = (await this.#redis.pipeline().mget(name, keyOf.dataMark).role().exec()) ?? [];
    const failure = texts?.[0] ?? (isPermissionError(role?.[0]) ? null : role?.[0]);
    if (failure) throw failure;
    const [text, mark] = Array.isArray(texts?.[1]) ? texts[1] : [];
    const roleName = Array.isArray(role?.[1]) ? role[1][0] : null;
    return {
      text: await lookedUp(this.#redis, text),
      mark: await lookedUp(this.#redis, mark),
      isMaster: roleName === null || roleName === 'master',
    };
  }

  async #confirm(mark: string | null, isMaster: boolean): Promise<void> {
    if (!isMaster) throw new CountersError('Redis is a replica: it may not have the newest keys');
    if (mark !== null && mark === this.#known) {
      this.#missingSince = null;
      return;
    }
    if (this.#known === null) return this.learn();
    this.#missingSince ??= this.#clock();
    if (this.#clock() - this.#missingSince < LOST_AFTER)
      throw new CountersError('Redis may have come up without its data: keys that it does not have are answered 503');
    this.#lost();
    await this.learn();
  }
}

/** A Redis user may lack the right to ROLE or INFO. */
export function isPermissionError(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOPERM');
}

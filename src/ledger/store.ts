import type { MaybePromise } from '../common/maybe-promise.ts';

/** What a store has at one moment. */
export interface UsageIndex {
  /** Parts of the minutes of processes that no sum contains yet. */
  readonly parts: ReadonlyMap<string, StoredPart>;
  /** Names of the sums, and their bytes. */
  readonly sizes: ReadonlyMap<string, number>;
}

export interface StoredPart {
  readonly bytes: Buffer;
  /** Milliseconds since it was stored; Infinity: its process has ended. */
  readonly age: number;
}

/** A part that a sum contains, although its process was not known to be done with it. */
export interface TakenPart {
  readonly name: string;
  /** In what the sum contains. */
  readonly requests: number;
}

export interface PutResult {
  /** Not stored. */
  readonly taken: readonly TakenPart[];
  /** Names of those without earlier content. Empty if `mayLose` is 0. */
  readonly added: ReadonlySet<string>;
}

/** The disk cannot be written, and still be read: put it again. */
export class NotSaved extends Error {
  override name = 'NotSaved';
}

/** Where usage is kept: the data folder of a gateway, or Redis. */
export interface UsageStore {
  /** Milliseconds before a failover that may be lost. */
  readonly mayLose: number;
  /**
   * Stores parts, each in place of its earlier content, all or nothing, but not those that a sum
   * contains. `isLast`: their processes have ended. Rejects if the store is unreachable; they may be
   * stored then.
   */
  put(parts: ReadonlyMap<string, Buffer>, isLast?: boolean): Promise<PutResult>;
  index(): Promise<UsageIndex>;
  /** Sums; `null`: missing. */
  read(names: readonly string[]): Promise<readonly (Buffer | null)[]>;
  /** The store's time, by which usage is too old; `given`: the caller's. Unix milliseconds. */
  now(given: number): MaybePromise<number>;
  /** Runs `work` if no other gateway does. */
  inTurn(work: (commit: Commit) => Promise<void>): Promise<void>;
  /** Resolves when nothing is being stored. */
  close(): Promise<void>;
}

/** What readers of usage need. */
export type UsageSource = Pick<UsageStore, 'index' | 'read'>;

/**
 * Stores sums, or with `null` removes them, and removes the parts that they contain: all or nothing.
 * Parts with requests are refused from then on. Rejects with TurnLost if another gateway has the
 * turn, and changes nothing then.
 */
export type Commit = (
  sums: ReadonlyMap<string, Buffer | null>,
  parts: ReadonlyMap<string, number | null>,
) => Promise<void>;

/** Took so long that another gateway has the turn. */
export class TurnLost extends Error {
  override name = 'TurnLost';
}

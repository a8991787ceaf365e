import type { MaybePromise } from '../common/maybe-promise.ts';

/** Where slices and blocks are kept: the data folder of a gateway, or Redis. */
export interface LedgerStore {
  /**
   * Stores slices by name, and resolves with how many names it did not have; a name that it has had
   * has the same content. Rejects if the store is unreachable; some may be stored then.
   */
  add(slices: ReadonlyMap<string, Buffer>): Promise<number>;
  /** Those that no block contains yet, and perhaps some that one does. */
  slices(): Promise<ReadonlyMap<string, Buffer>>;
  /** Names of the blocks, and their bytes. */
  sizes(): Promise<ReadonlyMap<string, number>>;
  /** `null`: missing. */
  read(names: readonly string[]): Promise<readonly (Buffer | null)[]>;
  /** The store's time, by which usage is too old; `given`: the caller's. Unix milliseconds. */
  now(given: number): MaybePromise<number>;
  /** Runs `work` if no other gateway does. */
  inTurn(work: (commit: Commit) => Promise<void>): Promise<void>;
  /** Resolves when what was added is stored. */
  close(): Promise<void>;
}

/** What readers of a ledger need. */
export type LedgerIndex = Pick<LedgerStore, 'slices' | 'sizes' | 'read'>;

/**
 * Stores blocks, or with `null` removes them, then removes the slices that they contain. Rejects
 * with TurnLost if another gateway has the turn, and changes nothing then.
 */
export type Commit = (
  blocks: ReadonlyMap<string, Buffer | null>,
  slices: readonly string[],
) => Promise<void>;

/** Took so long that another gateway has the turn. */
export class TurnLost extends Error {
  override name = 'TurnLost';
}

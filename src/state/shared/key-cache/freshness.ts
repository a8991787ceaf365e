import type { KeyRecord } from '../../../keys/key.ts';
import type { TokenRecord } from '../../../keys/operators/tokens.ts';

/** The file of the copy in the data folder, and the lock of the one process that writes it. */
export const KEY_CACHE_FILE = 'keys-copy.db';
export const KEY_CACHE_LOCK = 'keys-copy.lock';

/** The layout of the file. A file of another one is made anew. */
export const FORMAT = 1;

/** What a copy says of itself. Times are Unix milliseconds by the clock of this machine; 0: never. */
export interface Freshness {
  /** Which backend the keys are from. */
  readonly source: string;
  /** When the last sweep began that went through. Every row was true then, or has been written since. */
  readonly swept: number;
  /** Until when every change is known to have been heard. */
  readonly fresh: number;
  /** Whether any key came from another system. */
  readonly imported: boolean;
  /** How many gateways shared the backend. */
  readonly gateways: number;
  /** The tokens of operators, who are needed most in an outage. */
  readonly tokens: readonly TokenRecord[];
}

/** The standing as its row has it. */
type FreshnessRow = Record<'source' | 'tokens', string> & Record<'swept' | 'fresh' | 'imported' | 'gateways', number>;

export function freshnessIn(row: unknown): Freshness {
  const { imported, tokens, ...rest } = row as FreshnessRow;
  return { ...rest, imported: imported === 1, tokens: JSON.parse(tokens) as TokenRecord[] };
}

/** Where the keys come from: the backend that gateways share. Its calls reject with `Outage` while it is away. */
export interface KeySource {
  /** Names the backend, without passwords. Gateways that share it have the same name for it. */
  readonly name: string;
  /** All keys that are there from begin to end, some at a time, in any order. */
  pages(): AsyncIterable<readonly KeyRecord[]>;
  /** The records of keys by their hashes, in this order; `null`: there is no such key. */
  at(hashes: readonly string[]): Promise<readonly (KeyRecord | null)[]>;
  hasImported(): Promise<boolean>;
  gateways(): Promise<number>;
  tokens(): Promise<readonly TokenRecord[]>;
}

import type { DatabaseSync } from 'node:sqlite';
import type { KeyRecord } from '../../../keys/key.ts';
import type { TokenRecord } from '../../../keys/operators/tokens.ts';

export const KEY_CACHE_FILE = 'keys-copy.db';
export const KEY_CACHE_LOCK = 'keys-copy.lock';

/** Another format is recreated. */
export const FORMAT = 1;

/** Metadata of the cache. Unix milliseconds by the local clock; 0: never. */
export interface Freshness {
  readonly source: string;
  /** Start of the last complete sweep. Every row was valid then, or was written later. */
  readonly swept: number;
  /** Time until which all changes are known to be received. */
  readonly fresh: number;
  readonly imported: boolean;
  readonly gateways: number;
  /** Operator tokens, which are needed most during an outage. */
  readonly tokens: readonly TokenRecord[];
}

type FreshnessRow = Record<'source' | 'tokens', string> & Record<'swept' | 'fresh' | 'imported' | 'gateways', number>;

/** `null`: a file of another format, or an incomplete one. */
export function freshnessIn(db: DatabaseSync): Freshness | null {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  const row = version === FORMAT && (db.prepare('SELECT * FROM standing').get() as FreshnessRow | undefined);
  return row ? { ...row, imported: row.imported === 1, tokens: JSON.parse(row.tokens) as TokenRecord[] } : null;
}

/** The shared backend as a source of keys. Calls reject with `Outage` while it is down. */
export interface KeySource {
  /** Identifies the backend without passwords; equal for all its gateways. */
  readonly name: string;
  /** All keys that exist during the whole iteration, in any order. */
  pages(): AsyncIterable<readonly KeyRecord[]>;
  /** Records by hash, in this order; `null`: unknown key. */
  at(hashes: readonly string[]): Promise<readonly (KeyRecord | null)[]>;
  hasImported(): Promise<boolean>;
  gateways(): Promise<number>;
  tokens(): Promise<readonly TokenRecord[]>;
}

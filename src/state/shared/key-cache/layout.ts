import type { DatabaseSync } from 'node:sqlite';
import { type KeyRecord, wholeRecord } from '../../../keys/key.ts';
import type { TokenRecord } from '../../../keys/operators/tokens.ts';

export const KEY_CACHE_FILE = 'keys-copy.db';

/** Another format is recreated. */
const FORMAT = 2;

export const LAYOUT = `
  CREATE TABLE keys (
    number INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    previous TEXT,
    at INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX keys_by_previous ON keys (previous) WHERE previous IS NOT NULL;
  CREATE TABLE standing (freshness TEXT NOT NULL) STRICT;
  PRAGMA user_version = ${FORMAT};`;

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

/** `null`: a file of another format, or an incomplete one. */
export function freshnessIn(db: DatabaseSync): Freshness | null {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  const row = version === FORMAT ? db.prepare('SELECT freshness FROM standing').get() : undefined;
  return row ? (JSON.parse(row.freshness as string) as Freshness) : null;
}

/** Without the hash, which has a column, and `null` fields, which are most of a usual key. */
export function packKey(record: KeyRecord): string {
  return JSON.stringify({ ...record, hash: null }, (_, value: unknown) => value ?? undefined);
}

export function unpackKey(hash: string, text: string): KeyRecord {
  const fields = JSON.parse(text) as Partial<KeyRecord>;
  return wholeRecord({ hash, label: null, windows: null, expiresAt: null, revokedAt: null, ...fields });
}

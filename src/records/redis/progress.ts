import type { DatabaseSync } from 'node:sqlite';

/** The id of an entry before the first one. */
export const BEFORE_ALL = '0-0';

/** How far a copy is. */
export interface Progress {
  /** The Redis that it is a copy of, without passwords. */
  readonly source: string;
  readonly epoch: string;
  /** Ids of the last entries in it. */
  readonly audit: string;
  readonly bans: string;
  /** Whether it was whole. */
  readonly isWhole: boolean;
  /** Whether all records are being read again. */
  readonly isPassing: boolean;
  /** Unix milliseconds by the local clock: every change before is in it. */
  readonly confirmedAt: number;
  /** Running gateways, as last counted. */
  readonly gateways: number;
}

/** An entry in Redis: its id, and its fields. */
export type StoredEntry = readonly [id: string, fields: readonly string[]];

/** What a reading brings. */
export interface Reading {
  readonly audit: readonly StoredEntry[];
  readonly bans: readonly StoredEntry[];
  /** Texts of records by id, in turn. */
  readonly records: readonly string[];
  /** `null`: unchanged. */
  readonly tokens: readonly string[] | null;
  /** Numbers of the oldest entries that Redis has; 0: none. */
  readonly oldest: { readonly audit: number; readonly bans: number };
}

export function progressIn(db: DatabaseSync): () => Progress {
  const row = db.prepare('SELECT value FROM progress');
  return () => JSON.parse((row.get() as { value: string }).value) as Progress;
}

export function numberOf(id: string): number {
  return Number.parseInt(id, 10);
}

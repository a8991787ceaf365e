import { ExpectedError } from '../../common/expected-error.ts';
import type { Counts } from './records.ts';

/**
 * A state file is UTF-8 text with one JSON object per line, each ended by a line feed:
 *
 *     {"type":"header","format":"storegate-state","version":1,"at":"2026-11-21T20:00:00.000Z","from":"embedded","storegate":"0.1.0"}
 *     {"type":"key","id":"key_…",…}
 *     …
 *     {"type":"trailer","counts":{"key":1,"token":0,"audit":1,"ledger":1,"use":1},"sha256":"…"}
 *
 * Records are ordered by type: `key`, `token`, `audit`, `ban`, `ledger`, `use`. The trailer has their counts (of bans
 * only if present, so that versions before the ban log can read other files), and the SHA-256 of all bytes before its
 * line in hexadecimal. `records.ts` has the fields.
 */
export const FORMAT = 'storegate-state';
/** Increases with every incompatible change. Older files stay readable. */
export const FORMAT_VERSION = 1;

/** Maximum bytes of a line. The longest possible line is an audit entry with two whole plans. */
export const MAX_LINE = 16 * 1024 * 1024;

export interface Header {
  readonly at: string;
  readonly from: string;
}

export interface Trailer {
  readonly counts: Counts;
  readonly sha256: string;
}

/** A file cannot be read or written. The message states the file, the position and the cause. */
export class TransferError extends ExpectedError {
  override name = 'TransferError';
}

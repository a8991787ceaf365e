import { ExpectedError } from '../../common/expected-error.ts';
import type { Counts } from './records.ts';

/**
 * A file of a state is text in UTF-8, one JSON object on each line, each ended by a line feed:
 *
 *     {"type":"header","format":"storegate-state","version":1,"at":"2026-11-21T20:00:00.000Z","from":"embedded","storegate":"0.1.0"}
 *     {"type":"key","id":"key_…",…}
 *     …
 *     {"type":"trailer","counts":{"key":1,"token":0,"audit":1,"ledger":1,"use":1},"sha256":"…"}
 *
 * Records come type after type: `key`, `token`, `audit`, `ban`, `ledger`, `use`. The trailer has their numbers (of bans only if
 * there are any: a file without them is one that versions before the log of bans can read), and the SHA-256 of all
 * bytes before its line, in hexadecimal digits. `records.ts` has their fields.
 */
export const FORMAT = 'storegate-state';
/** Rises with every change that an older reader would not understand. Files of all earlier versions stay readable. */
export const FORMAT_VERSION = 1;

/** Bytes of the longest line. The longest that was ever written is an audit entry with two whole plans. */
export const MAX_LINE = 16 * 1024 * 1024;

export interface Header {
  readonly at: string;
  readonly from: string;
}

export interface Trailer {
  readonly counts: Counts;
  readonly sha256: string;
}

/** A file that cannot be read or written. The message says which, where in it, and why. */
export class TransferError extends ExpectedError {
  override name = 'TransferError';
}

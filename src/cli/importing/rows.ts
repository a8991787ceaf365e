import { ExpectedError } from '../../common/expected-error.ts';

/** What a file may say of a key. `key` is the secret itself, in place of its hash. */
export const FIELDS = [
  'hash',
  'key',
  'plan',
  'account',
  'label',
  'limits',
  'expires',
  'addresses',
  'scopes',
  'disabled',
  'metadata',
] as const;
export type Field = (typeof FIELDS)[number];

/** A key as a file has it; nothing of it is checked. `null` is as good as absent. */
export type Fields = Readonly<Partial<Record<Field, unknown>>>;

/** One key of a file. */
export interface Row {
  /** Where it stands, for people, such as `line 12`. */
  readonly at: string;
  readonly fields: Fields;
}

/** What of a file cannot be taken over. No message has a value of the file: each may be a secret, or stand where one should. */
export interface BadRow {
  readonly at: string;
  /** `null`: it is about all of the row. */
  readonly field: string | null;
  readonly message: string;
}

export type Read = Row | BadRow;

/** The bytes of a file, in parts; each call begins anew. */
export type Source = () => AsyncIterable<Uint8Array>;

/** A file that cannot be read at all. */
export class KeyFileError extends ExpectedError {
  override name = 'KeyFileError';
}

export function bad(at: string, field: string | null, message: string): BadRow {
  return { at, field, message };
}

/** What cannot be read, so that nothing behind it can be trusted. */
export function unreadable(at: string, reason: string): BadRow {
  return bad(at, null, `${reason}; nothing from here on was read`);
}

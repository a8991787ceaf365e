import { ExpectedError } from '../../common/expected-error.ts';

/** `key` is the secret, in place of its hash. */
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

/** Unchecked. `null` means absent. */
export type Fields = Readonly<Partial<Record<Field, unknown>>>;

export interface Row {
  readonly at: string;
  readonly fields: Fields;
}

/** The message has no value of the file: each may be a secret. */
export interface BadRow {
  readonly at: string;
  /** `null`: the whole row. */
  readonly field: string | null;
  readonly message: string;
}

export type Read = Row | BadRow;

/** Each call starts at the beginning. */
export type Source = () => AsyncIterable<Uint8Array>;

export class KeyFileError extends ExpectedError {
  override name = 'KeyFileError';
}

export function bad(at: string, field: string | null, message: string): BadRow {
  return { at, field, message };
}

export function unreadable(at: string, reason: string): BadRow {
  return bad(at, null, `${reason}; reading stopped here`);
}

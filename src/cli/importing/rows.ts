import { isObject } from '../../common/shapes.ts';
import { CommandError } from '../connect/api.ts';

/** `key` is the secret, in place of its hash. */
const FIELDS = [
  'hash',
  'key',
  'plan',
  'account',
  'label',
  'limits',
  'expires',
  'addresses',
  'scopes',
  'apis',
  'disabled',
  'metadata',
] as const;
export type Field = (typeof FIELDS)[number];

/** Unchecked. `null` and an empty text mean absent. */
export type Fields = Readonly<Partial<Record<Field, unknown>>>;

/** The message has no value of the file: each may be a secret. */
export interface BadRow {
  readonly line: number;
  /** `null`: the whole row. */
  readonly field: string | null;
  readonly message: string;
}

export type Read = { readonly line: number; readonly fields: Fields } | BadRow;

/** Reads NDJSON. Throws CommandError if it is not UTF-8. */
export function* rowsIn(file: Uint8Array): Generator<Read> {
  for (const [i, text] of textOf(file).split('\n').entries())
    if (text.trim() !== '') yield rowOf(i + 1, text);
}

function textOf(file: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch (cause) {
    throw new CommandError(
      'The file is not UTF-8. Convert it first, e.g. with iconv.',
      { cause },
    );
  }
}

function rowOf(line: number, text: string): Read {
  const fields = jsonIn(text);
  if (!isObject(fields))
    return { line, field: null, message: 'is not a JSON object' };
  const isKnown = Object.keys(fields).every((name) =>
    (FIELDS as readonly string[]).includes(name),
  );
  const message = `has an unknown field; use ${FIELDS.join(', ')}`;
  return isKnown ? { line, fields } : { line, field: null, message };
}

/** The error of the parser quotes the text, which has secrets, and so is dropped. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

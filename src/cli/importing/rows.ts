import { CommandError } from '../connect/api.ts';

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

/** The message has no value of the file: each may be a secret. */
export interface BadRow {
  readonly at: string;
  /** `null`: the whole row. */
  readonly field: string | null;
  readonly message: string;
}

export type Read = { readonly at: string; readonly fields: Fields } | BadRow;

/** Each call starts at the beginning. */
export type Source = () => AsyncIterable<Uint8Array>;

export function bad(at: string, field: string | null, message: string): BadRow {
  return { at, field, message };
}

export function unreadable(at: string, reason: string): BadRow {
  return bad(at, null, `${reason}; reading stopped here`);
}

/** Half the limit of V8 for strings. */
const MAX_DOCUMENT = 256 * 1024 * 1024;

/** Without the byte order mark. Throws CommandError if it is not UTF-8. */
export async function* textOf(source: Source): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const part of source())
      yield decoder.decode(part, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (
      (error as NodeJS.ErrnoException).code ===
      'ERR_ENCODING_INVALID_ENCODED_DATA'
    )
      throw new CommandError(
        'The file is not UTF-8. Convert it first, e.g. with iconv.',
      );
    throw error;
  }
}

/** Throws CommandError if it is too large. */
export async function wholeText(source: Source): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for await (const part of textOf(source)) {
    length += part.length;
    if (length > MAX_DOCUMENT)
      throw new CommandError(
        'The file is too large for this format. Split it.',
      );
    parts.push(part);
  }
  return parts.join('');
}

/**
 * Not blank, numbered from 1; `null`: longer than `longest` characters. Keeps one line in memory.
 */
export async function* linesOf(
  source: Source,
  longest: number,
): AsyncGenerator<{ readonly number: number; readonly text: string | null }> {
  let number = 1;
  let started = '';
  const line = () =>
    started.length > longest
      ? [{ number, text: null }]
      : started.trim() === ''
        ? []
        : [{ number, text: started }];
  for await (const part of textOf(source)) {
    const pieces = part.split('\n');
    for (const [i, piece] of pieces.entries()) {
      started += piece.slice(0, longest + 1 - started.length);
      if (i === pieces.length - 1) break;
      yield* line();
      started = '';
      number++;
    }
  }
  yield* line();
}

/**
 * `undefined`: not JSON. The error of the parser quotes the text, which has secrets, and so is
 * dropped.
 */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import { KeyFileError, type Source } from './rows.ts';

/** The most characters of a document that is read as a whole. A string of V8 holds twice as many. */
const LONGEST_DOCUMENT = 256 * 1024 * 1024;

/** The text of a file in parts, without the byte order mark. Throws KeyFileError where it is no UTF-8. */
export async function* textOf(source: Source): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const part of source()) yield decoder.decode(part, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw new KeyFileError('the file is no UTF-8: convert it first, such as with iconv');
    throw error;
  }
}

/** All of it. Throws KeyFileError where that is too much. */
export async function wholeText(source: Source): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for await (const part of textOf(source)) {
    length += part.length;
    if (length > LONGEST_DOCUMENT) throw new KeyFileError('the file is too large for this format: split it');
    parts.push(part);
  }
  return parts.join('');
}

export interface Line {
  /** From 1. */
  readonly number: number;
  /** `null`: it is longer than `longest`. */
  readonly text: string | null;
}

/** The lines of a file that are not blank. Holds no more than one line, and of that no more than `longest` characters. */
export async function* linesOf(source: Source, longest: number): AsyncGenerator<Line> {
  let number = 1;
  let begun = '';
  const line = (): Line[] =>
    begun.length > longest ? [{ number, text: null }] : begun.trim() === '' ? [] : [{ number, text: begun }];
  for await (const part of textOf(source)) {
    const pieces = part.split('\n');
    for (const [i, piece] of pieces.entries()) {
      // One character too many is enough to know.
      begun += piece.slice(0, longest + 1 - begun.length);
      if (i === pieces.length - 1) break;
      yield* line();
      begun = '';
      number++;
    }
  }
  yield* line();
}

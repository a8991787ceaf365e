import { KeyFileError, type Source } from './rows.ts';

/** Half the limit of V8 for strings. */
const MAX_DOCUMENT = 256 * 1024 * 1024;

/** Without the byte order mark. Throws KeyFileError if it is not UTF-8. */
export async function* textOf(source: Source): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const part of source()) yield decoder.decode(part, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw new KeyFileError('The file is not UTF-8. Convert it first, e.g. with iconv.');
    throw error;
  }
}

/** Throws KeyFileError if it is too large. */
export async function wholeText(source: Source): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for await (const part of textOf(source)) {
    length += part.length;
    if (length > MAX_DOCUMENT) throw new KeyFileError('The file is too large for this format. Split it.');
    parts.push(part);
  }
  return parts.join('');
}

export interface Line {
  /** From 1. */
  readonly number: number;
  /** `null`: longer than `longest`. */
  readonly text: string | null;
}

/** Not blank. Keeps one line in memory, up to `longest` characters. */
export async function* linesOf(source: Source, longest: number): AsyncGenerator<Line> {
  let number = 1;
  let started = '';
  const line = (): Line[] =>
    started.length > longest ? [{ number, text: null }] : started.trim() === '' ? [] : [{ number, text: started }];
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

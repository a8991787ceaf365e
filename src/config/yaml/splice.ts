import { isDeepStrictEqual } from 'node:util';
import { type Document, type Node, parseDocument } from 'yaml';

/** Readers limit what aliases add; the parser counts aliases in another way. */
const CHECKED = { maxAliasCount: -1 };

interface Splice {
  readonly start: number;
  readonly end: number;
  /** Lines. */
  readonly block: string;
}

/**
 * The text of a changed document: the rest stays byte for byte. A text in an unusual style is
 * reformatted, with its comments.
 */
export function spliced(
  text: string,
  document: Document,
  splice: Splice | null,
): string {
  if (splice !== null) {
    const { start, end, block } = splice;
    const found = text.slice(0, start) + block + text.slice(end);
    const read = parseDocument(found);
    if (
      read.errors.length === 0 &&
      isDeepStrictEqual(read.toJS(CHECKED), document.toJS(CHECKED))
    )
      return found;
  }
  return document.toString({ lineWidth: 0 });
}

/** Where the line after a node begins. */
export function lineAfter(text: string, { range }: Node): number {
  // A value in block style ends after its last line, one in flow style within it.
  const last = range![1];
  return text[last - 1] === '\n'
    ? last
    : text.indexOf('\n', last) + 1 || text.length;
}

export const indented = (text: string, indent: number): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `${' '.repeat(indent)}${line}\n`)
    .join('');

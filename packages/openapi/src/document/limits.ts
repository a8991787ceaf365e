import { type Document, Lexer, type ParseOptions, parseDocument } from 'yaml';

/** Of each file of a contract. */
export const LIMITS = {
  bytes: 128 * 1024 * 1024,
  /** Of YAML, where each takes 0.6 to 1.7 KB of memory. */
  tokens: 1_000_000,
  /** Of JSON, where each takes at most 0.6 KB. */
  values: 2_000_000,
  /** Levels, also through aliases. */
  depth: 200,
} as const;

/** Errors that follow the name of a file. */
export const TOO_DEEP = `is nested deeper than ${LIMITS.depth} levels`;
export const TOO_MANY_TOKENS = `has more than ${LIMITS.tokens} names, values and marks of YAML; write it as JSON, or split it`;
export const TOO_MANY_VALUES = `has more than ${LIMITS.values} values; split it`;

/** Markers of the lexer, which no text has. */
const MARKERS = new Set(['\u0002', '\u0018', '\u001f']);
const BLANK = /^[ \t\r\n#]/;

/**
 * The offset of the first token after `most`, or `null`. Takes a twentieth of the time of the
 * parser, and no memory. Comments and space do not count.
 */
function tokenAfter(text: string, most: number): number | null {
  // A token has a character.
  if (text.length <= most) return null;
  let count = 0;
  let offset = 0;
  for (const token of new Lexer().lex(text)) {
    if (MARKERS.has(token)) continue;
    if (!BLANK.test(token) && ++count > most) return offset;
    offset += token.length;
  }
  return null;
}

/** Or the offset of the first token after `most`. */
export function parseWithin(
  text: string,
  most: number,
  options: ParseOptions & NonNullable<Parameters<typeof parseDocument>[1]>,
): Document.Parsed | number {
  const excess = tokenAfter(text, most);
  if (excess !== null) return excess;
  const { stackTraceLimit } = Error;
  // A text may have an error at each character, and each keeps its stack.
  Error.stackTraceLimit = 0;
  try {
    return parseDocument(text, options);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const STRING_OR_VALUE = /"[^"\\]*(?:\\.[^"\\]*)*"|([,[{])/g;

/** Whether a JSON text has more values than a file of a contract may have. */
export function hasTooManyValues(text: string): boolean {
  if (text.length <= LIMITS.values) return false;
  let count = 1;
  for (const [, mark] of text.matchAll(STRING_OR_VALUE))
    if (mark !== undefined && ++count > LIMITS.values) return true;
  return false;
}

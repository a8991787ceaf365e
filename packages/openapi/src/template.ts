import { canonicalPath } from './path.ts';

export interface Segment {
  /** One literal more than `names`; the first and last may be empty. */
  readonly literals: readonly string[];
  readonly names: readonly string[];
}

const EXPRESSION = /\{([^{}/]*)\}/;

/** Of an invalid template, those that can be found. */
export const namesIn = (path: string): string[] =>
  path.split(EXPRESSION).filter((_, i) => i % 2 === 1);

/**
 * Literals become canonical. Returns the end of the sentence "the path …"
 * if the template is not valid, or does not determine where one value ends and the next begins.
 */
export function parseTemplate(path: string): readonly Segment[] | string {
  if (!path.startsWith('/')) return 'must begin with /';
  if (/[?#]/.test(path)) return 'must have no query and no fragment';
  const segments: Segment[] = [];
  for (const text of path.slice(1).split('/')) {
    const segment = parseSegment(text);
    if (typeof segment === 'string') return segment;
    segments.push(segment);
  }
  const names = namesIn(path);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  return twice === undefined ? segments : `has {${twice}} twice`;
}

const PLAIN = /^[A-Za-z0-9_~-]*$/;
const NO_NAMES: readonly string[] = [];

function parseSegment(text: string): Segment | string {
  if (PLAIN.test(text)) return { literals: [text], names: NO_NAMES };
  const parts = text.split(EXPRESSION);
  const literals = parts.filter((_, i) => i % 2 === 0);
  const names = parts.filter((_, i) => i % 2 === 1);
  if (literals.some((literal) => /[{}]/.test(literal)))
    return 'has a brace without its partner';
  if (names.includes('')) return 'has {} without a name';
  if (literals.slice(1, -1).includes(''))
    return 'has two templates with nothing between them';
  if (text === '.' || text === '..')
    return `has a segment ${text}, which no canonical path has`;
  if (/;|%3b/i.test(literals.join()))
    return 'has a semicolon, which servers read in different ways';
  return { literals: literals.map(canonicalPath), names };
}

/** No two templates may share it. */
export const outlineOf = (segments: readonly Segment[]): string =>
  segments.map(({ literals }) => literals.join('{}')).join('/');

/**
 * Each value has at least one character and is as short as possible. It is cut from `shown`, which
 * has the length of `text`.
 */
export function matchSegment(
  { literals, names }: Segment,
  text: string,
  shown = text,
): string[] | null {
  const first = literals[0]!;
  const last = literals[names.length]!;
  if (!text.startsWith(first) || !text.endsWith(last)) return null;
  const values: string[] = [];
  const end = text.length - last.length;
  let at = first.length;
  for (let i = 1; i < names.length; i++) {
    const next = text.indexOf(literals[i]!, at + 1);
    if (next < 0) return null;
    values.push(shown.slice(at, next));
    at = next + literals[i]!.length;
  }
  if (at >= end) return null;
  values.push(shown.slice(at, end));
  return values;
}

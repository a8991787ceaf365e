import {
  type Automaton,
  createAutomaton,
  isAnchored,
  isDeterministic,
  TooLarge,
} from './automaton.ts';
import { createMatcher } from './matcher.ts';
import { parse, type Term, termsIn } from './syntax.ts';

/**
 * Characters that the `u` flag allows after a backslash, and letters and digits, whose escapes have
 * another meaning.
 */
const NEEDFUL = /[$()*+./?[\\\]^{|}\p{ID_Continue}]/u;

const LONG_ESCAPE = String.raw`\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z])`;
const OUTSIDE = new RegExp(
  String.raw`${LONG_ESCAPE}|\\(?<escaped>.)|\{\d+(?:,\d*)?\}|(?<opening>\[\^?)(?<members>(?:\\.|[^\]\\])*)\]|[\]{}]`,
  'gsu',
);
const MEMBER = new RegExp(String.raw`${LONG_ESCAPE}|\\.|.`, 'gsu');
const CLASS_ESCAPE = /^\\[dDsSwWpP]/;

/**
 * Spells annex B of ECMA-262 as the `u` flag requires: unnecessary escapes (`\@`), literal braces
 * and brackets (`{a}`, `]`, `x{,3}`), and `[\w-.]`. Escaped letters stay: the authors of `\A` and
 * `\Z` mean something else than an A and a Z.
 */
function inUnicodeSpelling(source: string): string {
  return source.replace(OUTSIDE, (sign: string, ...found) => {
    const { escaped, opening, members } = found.at(-1) as Partial<
      Record<string, string>
    >;
    if (members !== undefined) return `${opening}${inClass(members)}]`;
    // A class of one character cannot combine with the text around it.
    if (escaped !== undefined)
      return isNeedful(escaped) ? sign : `[${escaped}]`;
    return sign.length > 1 ? sign : `\\${sign}`;
  });
}

function inClass(members: string): string {
  const signs = members.match(MEMBER) ?? [];
  let text = '';
  for (let i = 0; i < signs.length; i++) {
    const from = signs[i]!;
    text += asMember(from);
    if (signs[i + 1] !== '-' || i + 2 === signs.length) continue;
    const to = signs[i + 2]!;
    text +=
      (CLASS_ESCAPE.test(from) || CLASS_ESCAPE.test(to) ? '\\-' : '-') +
      asMember(to);
    i += 2;
  }
  return text;
}

function asMember(sign: string): string {
  if (sign === '-') return '\\-';
  const escaped = /^\\(.)$/su.exec(sign)?.[1];
  return escaped === undefined || escaped === '-' || isNeedful(escaped)
    ? sign
    : escaped;
}

const isNeedful = (escaped: string) => escaped !== '_' && NEEDFUL.test(escaped);

export interface Pattern {
  test(text: string): boolean;
}

/** The message completes the sentence "pattern …". */
export class PatternError extends Error {}

/** A valid pattern whose time has no bound. */
export class BoundlessPattern extends PatternError {}

/** A longer match of an unanchored search would read the text repeatedly. */
const SHORT = 64;

/** Not in ECMA-262, but in real documents. */
const IGNORE_CASE = '(?i)';

/** Behind `(?i:…)`, the `\w` of V8 13.6 still ignores case. */
const FLAGS_OF_GROUP = /\(\?[ims-]+:/;

/**
 * ECMA-262 with the `u` flag, spellings that are valid only without it, and a leading `(?i)`. A
 * short text can keep a backtracking engine busy for hours, so the engine only gets patterns that
 * have few ways to match. An automaton matches all others.
 *
 * @throws PatternError
 */
export function compilePattern(source: string): Pattern {
  const flags = source.startsWith(IGNORE_CASE) ? 'i' : '';
  const { native, text } = regExp(
    flags ? source.slice(IGNORE_CASE.length) : source,
    `u${flags}`,
  );
  const term = parse(text, flags);
  if (engineIsSafe(term, text)) return native;
  if (has(term, 'back-reference'))
    throw new BoundlessPattern(
      'needs a back-reference: its time cannot be bounded',
    );
  try {
    return createMatcher(term);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    throw new BoundlessPattern(
      'is too large: each character of a text would take too much time',
    );
  }
}

function regExp(
  source: string,
  flags: string,
): { native: RegExp; text: string } {
  const native = expression(source, flags);
  if (native instanceof RegExp) return { native, text: source };
  const text =
    expression(source, '') instanceof RegExp
      ? inUnicodeSpelling(source)
      : source;
  const respelt = expression(text, flags);
  if (respelt instanceof RegExp) return { native: respelt, text };
  throw new PatternError(`is not valid with the u flag: ${native.message}`);
}

function expression(source: string, flags: string): RegExp | SyntaxError {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    if (error instanceof SyntaxError) return error;
    throw error;
  }
}

function engineIsSafe(term: Term, text: string): boolean {
  if (FLAGS_OF_GROUP.test(text)) return false;
  if (!has(term, 'repeat')) return ways(term) <= text.length;
  if (has(term, 'look') || has(term, 'back-reference')) return false;
  const short = longest(term) <= SHORT;
  return (['loop', 'copy'] as const).some((counts) => {
    const automaton = build(term, counts);
    return (
      automaton !== null &&
      isDeterministic(automaton) &&
      (short || isAnchored(automaton))
    );
  });
}

function build(term: Term, counts: 'loop' | 'copy'): Automaton | null {
  try {
    return createAutomaton(term, counts);
  } catch (error) {
    if (error instanceof TooLarge) return null;
    throw error;
  }
}

/** At most, without repetitions. */
function ways(term: Term): number {
  if (term.kind === 'sequence')
    return term.parts.reduce((product, part) => product * ways(part), 1);
  if (term.kind === 'choice')
    return term.options.reduce((sum, option) => sum + ways(option), 0);
  return term.kind === 'look' ? ways(term.look.body) : 1;
}

function longest(term: Term): number {
  if (term.kind === 'sequence')
    return term.parts.reduce((sum, part) => sum + longest(part), 0);
  if (term.kind === 'choice') return Math.max(...term.options.map(longest));
  if (term.kind === 'repeat')
    return term.most === 0 ? 0 : longest(term.body) * term.most;
  return term.kind === 'character' ? 1 : 0;
}

const has = (term: Term, kind: Term['kind']) =>
  termsIn(term).some((part) => part.kind === kind);

import { Automaton, TooLarge } from './automaton.ts';
import { type CharacterSet, Characters, complement, includes, TEXT_END, TEXT_START } from './characters.ts';
import { createMatcher } from './matcher.ts';
import { inUnicodeSpelling } from './spelling.ts';
import { parse, type Term } from './syntax.ts';

export interface Pattern {
  test(text: string): boolean;
}

/** The message completes the sentence "pattern …". */
export class PatternError extends Error {}

/** A longer match of an unanchored search would read the text repeatedly. */
const SHORT = 64;

const ANCHOR: Term = { kind: 'character', set: [[TEXT_START, TEXT_START]] };
const END: Term = { kind: 'character', set: [[TEXT_END, TEXT_END]] };

/** Not in ECMA-262, but in real documents. */
const IGNORE_CASE = '(?i)';

const CHARACTERS = { u: new Characters(''), ui: new Characters('i') };

/**
 * ECMA-262 with the `u` flag, spellings that are valid only without it, and a leading `(?i)`. A short text can keep a
 * backtracking engine busy for hours, so the engine only gets deterministic patterns. An automaton matches all others,
 * and patterns that it cannot match are refused.
 *
 * @throws PatternError if the pattern is not valid or its time cannot be bounded.
 */
export function compilePattern(source: string): Pattern {
  const caseless = source.startsWith(IGNORE_CASE);
  const flags = caseless ? 'ui' : 'u';
  const { native, text } = regExp(caseless ? source.slice(IGNORE_CASE.length) : source, flags);
  const written = parse(text, CHARACTERS[flags]);
  if (!has(written, (part) => part.kind === 'repeat')) return native;
  const term = withoutLookaheadAtEnd(written);
  const unusual = termsIn(term).find((part) => part.kind === 'context' || part.kind === 'lookahead');
  if (term === written && unusual?.kind !== 'lookahead' && engineIsSafe(term)) return native;
  if (!unusual) return matcher(term);
  const conditions = leadingConditions(term);
  if (conditions) return conditions;
  const what = unusual.kind === 'context' ? unusual.what : 'a look-ahead that is neither at the start nor at the end';
  throw new PatternError(
    `needs ${what} beside a repetition that can be read in several ways: its time cannot be bounded`,
  );
}

function regExp(source: string, flags: string): { native: RegExp; text: string } {
  const native = expression(source, flags);
  if (native instanceof RegExp) return { native, text: source };
  const text = expression(source, '') instanceof RegExp ? inUnicodeSpelling(source) : source;
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

function engineIsSafe(term: Term): boolean {
  if (has(term, (part) => part.kind === 'context' && !part.what.startsWith('\\'))) return false;
  const short = longest(term) <= SHORT;
  return (['loop', 'copy'] as const).some((counts) => {
    const automaton = build(term, counts);
    return automaton?.deterministic && (automaton.anchored || short);
  });
}

function build(term: Term, counts: 'loop' | 'copy'): Automaton | null {
  try {
    return new Automaton(term, counts);
  } catch (error) {
    if (error instanceof TooLarge) return null;
    throw error;
  }
}

function matcher(term: Term): Pattern {
  const automaton = build(term, 'copy');
  if (!automaton) throw new PatternError('is too large: its time cannot be bounded');
  if (!automaton.plain) throw new PatternError('has ^ or $ in a place where it can never match');
  return createMatcher(automaton);
}

/** `^(?=…)(?!…)rest`, the usual form of password rules, as one pattern per condition. */
function leadingConditions(term: Term): Pattern | null {
  if (term.kind !== 'sequence' || term.parts[0]?.kind !== 'character' || !isAnchor(term.parts[0])) return null;
  const parts = term.parts.slice(1);
  const end = parts.findIndex((part) => part.kind !== 'lookahead');
  const ahead = parts.slice(0, end < 0 ? parts.length : end).filter((part) => part.kind === 'lookahead');
  const rest: Term = { kind: 'sequence', parts: end < 0 ? [] : parts.slice(end) };
  const bodies = [...ahead.map(({ body }) => body), rest];
  if (bodies.some((body) => has(body, (part) => part.kind === 'lookahead' || part.kind === 'context'))) return null;
  const conditions = ahead.map(({ body, negative }) => ({ pattern: anchoredMatcher(body), wanted: !negative }));
  conditions.push({ pattern: anchoredMatcher(rest), wanted: true });
  return { test: (text) => conditions.every(({ pattern, wanted }) => pattern.test(text) === wanted) };
}

const anchoredMatcher = (body: Term): Pattern => matcher({ kind: 'sequence', parts: [ANCHOR, body] });

const isAnchor = (term: Term & { kind: 'character' }): boolean => term.set[0]?.[0] === TEXT_START;

function withoutLookaheadAtEnd(term: Term): Term {
  if (term.kind === 'lookahead') return term.negative ? (missing(term.body) ?? term) : withoutLookaheadAtEnd(term.body);
  if (term.kind === 'choice') {
    const options = term.options.map(withoutLookaheadAtEnd);
    return options.every((option, i) => option === term.options[i]) ? term : { kind: 'choice', options };
  }
  if (term.kind !== 'sequence') return term;
  const before = term.parts.slice(0, -1);
  const last = term.parts.at(-1);
  const end = last && withoutLookaheadAtEnd(last);
  return end === last ? term : { kind: 'sequence', parts: [...before, end!] };
}

/** The end of the text, or another character at one position. */
function missing(body: Term): Term | null {
  const row = body.kind === 'sequence' ? body.parts : [body];
  const sets: CharacterSet[] = [];
  for (const part of row) {
    if (part.kind !== 'character' || includes(part.set, TEXT_START)) return null;
    if (sets.some((set) => includes(set, TEXT_END))) return null;
    sets.push(part.set);
  }
  const others = sets.map(otherThan);
  // An empty sequence matches everywhere.
  if (others.length === 0) return null;
  const options = others.map((other, i) => ({ kind: 'sequence', parts: [...row.slice(0, i), other] }) as const);
  return { kind: 'choice', options };
}

function otherThan(set: CharacterSet): Term {
  const any: Term = { kind: 'character', set: complement(set) };
  return includes(set, TEXT_END) ? any : { kind: 'choice', options: [any, END] };
}

function longest(term: Term): number {
  if (term.kind === 'sequence') return term.parts.reduce((sum, part) => sum + longest(part), 0);
  if (term.kind === 'choice') return Math.max(...term.options.map(longest));
  if (term.kind === 'repeat') return term.most === 0 ? 0 : longest(term.body) * term.most;
  return term.kind === 'character' ? 1 : 0;
}

const has = (term: Term, wanted: (term: Term) => boolean): boolean => termsIn(term).some(wanted);

function* termsIn(term: Term): Generator<Term> {
  yield term;
  if (term.kind === 'sequence') for (const part of term.parts) yield* termsIn(part);
  if (term.kind === 'choice') for (const option of term.options) yield* termsIn(option);
  if (term.kind === 'repeat' || term.kind === 'lookahead') yield* termsIn(term.body);
}

import { exact } from '../numbers.ts';
import { ContractError } from '../problems.ts';
import {
  hasTooManyValues,
  LIMITS,
  TOO_DEEP,
  TOO_MANY_VALUES,
} from './limits.ts';
import type { Origin, Places, SourceText } from './places.ts';

type Json = Record<string, unknown>;

/** The YAML reader reports longer names. */
const LONGEST_NAME = 1_000;

const NAME_OR_STRING = /"[^"\\]*(?:\\.[^"\\]*)*"[ \t\r\n]*(:?)/g;
const SPACE = /[ \t\r\n]*/y;
const COLON = /[ \t\r\n]*:[ \t\r\n]*/y;
const SCALAR = /"[^"\\]*(?:\\.[^"\\]*)*"|[^ \t\r\n,\]}]*/y;
const STRING_OR_BRACKET = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]/g;

class Unfit extends Error {}

/**
 * Takes a tenth of the time and memory of the YAML reader. `null` for other and invalid texts,
 * whose errors the YAML reader reports.
 *
 * @throws ContractError beyond the limits.
 */
export function readJsonSource(
  source: SourceText,
  places: Places,
): Json | null {
  const { text } = source;
  if (!/^[ \t\r\n]*\{/.test(text)) return null;
  if (hasTooManyValues(text))
    throw new ContractError([source.problem(0, [], TOO_MANY_VALUES)]);
  try {
    const root = JSON.parse(text, exactly) as Json;
    // Of equal names in one object, the parser keeps the last.
    return place(root, new JsonOrigin(source, null, ''), places, 0) ===
      namesIn(text)
      ? root
      : null;
  } catch (error) {
    // RangeError: nesting that the stack does not hold.
    if (
      error instanceof SyntaxError ||
      error instanceof RangeError ||
      error instanceof Unfit
    )
      return null;
    throw error;
  }
}

/** Integers beyond 2^53 keep their digits in any notation. */
function exactly(
  _name: string,
  value: unknown,
  { source }: { readonly source?: string },
): unknown {
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value)) throw new Unfit();
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return exact(source!) ?? value;
  return value === 0 ? 0 : value;
}

/** Returns the number of names inside. */
function place(
  collection: object,
  origin: JsonOrigin,
  places: Places,
  depth: number,
): number {
  if (depth === LIMITS.depth) {
    const { source, tokens } = origin;
    const problem = source.problem(origin.offset(null), tokens, TOO_DEEP);
    throw new ContractError([problem]);
  }
  places.set(collection, origin);
  const entries = Object.entries(collection);
  let names = Array.isArray(collection) ? 0 : entries.length;
  for (const [name, value] of entries) {
    if (
      name === '__proto__' ||
      name.length > LONGEST_NAME ||
      !name.isWellFormed()
    )
      throw new Unfit();
    if (typeof value === 'string' && !value.isWellFormed()) throw new Unfit();
    if (typeof value === 'object' && value !== null)
      names += place(
        value,
        new JsonOrigin(origin.source, origin, name),
        places,
        depth + 1,
      );
  }
  return names;
}

function namesIn(text: string): number {
  let names = 0;
  for (const [, colon] of text.matchAll(NAME_OR_STRING)) if (colon) names++;
  return names;
}

interface Offsets {
  /** Of its name in an object. */
  readonly member: number;
  readonly value: number;
}

/** Finds offsets on demand. */
class JsonOrigin implements Origin {
  readonly source: SourceText;
  readonly #parent: JsonOrigin | null;
  readonly #key: string;
  #members: ReadonlyMap<string, Offsets> | null = null;

  constructor(source: SourceText, parent: JsonOrigin | null, key: string) {
    this.source = source;
    this.#parent = parent;
    this.#key = key;
  }

  get tokens(): readonly string[] {
    return this.#parent ? [...this.#parent.tokens, this.#key] : [];
  }

  offset(key: string | number | null): number {
    return (
      (key === null ? null : this.#find(String(key))?.member) ?? this.#start
    );
  }

  get #start(): number {
    return this.#parent
      ? this.#parent.#find(this.#key)!.value
      : this.source.text.indexOf('{');
  }

  #find(key: string): Offsets | undefined {
    this.#members ??= membersAt(this.source.text, this.#start);
    return this.#members.get(key);
  }
}

/** Of the valid object or list at `start`. */
function membersAt(text: string, start: number): ReadonlyMap<string, Offsets> {
  const members = new Map<string, Offsets>();
  let at = endOf(SPACE, text, start + 1);
  while (text[at] !== '}' && text[at] !== ']') {
    const member = at;
    let key = String(members.size);
    if (text[start] === '{') {
      const end = endOf(SCALAR, text, at);
      key = JSON.parse(text.slice(at, end)) as string;
      at = endOf(COLON, text, end);
    }
    members.set(key, { member, value: at });
    at = endOf(SPACE, text, endOfValue(text, at));
    if (text[at] === ',') at = endOf(SPACE, text, at + 1);
  }
  return members;
}

function endOfValue(text: string, start: number): number {
  if (text[start] !== '{' && text[start] !== '[')
    return endOf(SCALAR, text, start);
  let depth = 0;
  STRING_OR_BRACKET.lastIndex = start;
  do {
    const [found] = STRING_OR_BRACKET.exec(text)!;
    if (found === '{' || found === '[') depth++;
    else if (found === '}' || found === ']') depth--;
  } while (depth > 0);
  return STRING_OR_BRACKET.lastIndex;
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return pattern.lastIndex;
}

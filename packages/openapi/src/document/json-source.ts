import { LineCounter } from 'yaml';
import { exact } from '../numbers.ts';
import type { Origin, Places } from './places.ts';

type Json = Record<string, unknown>;

/** The YAML reader reports deeper nesting and longer names. */
const DEEPEST = 200;
const LONGEST_NAME = 1_000;

const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none in its strings.
const UNUSUAL = /[\\\u0000-\u001f]/;
const LITERALS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

class Unfit extends Error {}

/**
 * Takes a tenth of the time and memory of the YAML reader. `null` for other and invalid texts, whose errors the YAML
 * reader reports.
 */
export function readJsonSource(file: string, text: string, places: Places): Json | null {
  if (!/^[ \t\r\n]*\{/.test(text)) return null;
  try {
    return new Reader(file, text, places).read();
  } catch (error) {
    if (error instanceof Unfit) return null;
    throw error;
  }
}

class Reader {
  readonly #text: string;
  readonly #places: Places;
  readonly #source: JsonText;
  #at = 0;

  constructor(file: string, text: string, places: Places) {
    this.#text = text;
    this.#places = places;
    this.#source = new JsonText(file, text);
  }

  read(): Json {
    this.#space();
    const root = this.#value(null, '', 0);
    this.#space();
    if (this.#at < this.#text.length) throw new Unfit();
    return root as Json;
  }

  #value(parent: JsonOrigin | null, key: string | number, depth: number): unknown {
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === '{' || first === '[') return this.#collection(parent, key, depth, first);
    const literal = this.#match(LITERAL);
    return literal ? LITERALS[literal[0]] : this.#number();
  }

  #collection(parent: JsonOrigin | null, key: string | number, depth: number, first: '{' | '['): Json | unknown[] {
    if (depth === DEEPEST) throw new Unfit();
    const origin = new JsonOrigin(this.#source, this.#at, parent, key);
    const result: Json | unknown[] = first === '{' ? {} : [];
    this.#places.set(result, origin);
    const end = first === '{' ? '}' : ']';
    this.#at++;
    this.#space();
    if (this.#takes(end)) return result;
    do {
      this.#space();
      if (Array.isArray(result)) result.push(this.#value(origin, result.length, depth + 1));
      else this.#member(result, origin, depth);
      this.#space();
    } while (this.#takes(','));
    if (!this.#takes(end)) throw new Unfit();
    return result;
  }

  #member(object: Json, origin: JsonOrigin, depth: number): void {
    if (this.#text[this.#at] !== '"') throw new Unfit();
    const name = this.#string();
    const unfit = name === '__proto__' || name === '<<' || name.length > LONGEST_NAME || Object.hasOwn(object, name);
    this.#space();
    if (unfit || !this.#takes(':')) throw new Unfit();
    this.#space();
    object[name] = this.#value(origin, name, depth + 1);
  }

  #string(): string {
    const start = this.#at;
    const end = endOfString(this.#text, start);
    this.#at = end;
    const raw = this.#text.slice(start + 1, end - 1);
    if (!UNUSUAL.test(raw)) return raw;
    const value = parsed(this.#text.slice(start, end));
    if (!value.isWellFormed()) throw new Unfit();
    return value;
  }

  #number(): number | bigint {
    const found = this.#match(NUMBER);
    if (!found) throw new Unfit();
    const [text, fraction, exponent] = found;
    const value = Number(text);
    if (!Number.isFinite(value)) throw new Unfit();
    if (fraction !== undefined || exponent !== undefined) return exactly(value, text);
    if (!Number.isSafeInteger(value)) return BigInt(text);
    return value === 0 ? 0 : value;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #space(): void {
    this.#match(SPACE);
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }
}

/** Integers beyond 2^53 keep their digits in any notation. */
function exactly(value: number, text: string): number | bigint {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? (exact(text) ?? value) : value;
}

function parsed(text: string): string {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unfit();
  }
}

function endOfString(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
    if (end < 0) throw new Unfit();
  } while (isEscaped(text, end));
  return end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === '\\') slashes++;
  return slashes % 2 === 1;
}

class JsonText {
  readonly file: string;
  readonly text: string;
  #lines: LineCounter | null = null;

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
  }

  get lines(): LineCounter {
    if (this.#lines) return this.#lines;
    this.#lines = new LineCounter();
    for (let start = 0; start >= 0; ) {
      this.#lines.addNewLine(start);
      const end = this.text.indexOf('\n', start);
      start = end < 0 ? -1 : end + 1;
    }
    return this.#lines;
  }
}

class JsonOrigin implements Origin {
  readonly #source: JsonText;
  readonly #start: number;
  readonly #parent: JsonOrigin | null;
  readonly #key: string | number;

  constructor(source: JsonText, start: number, parent: JsonOrigin | null, key: string | number) {
    this.#source = source;
    this.#start = start;
    this.#parent = parent;
    this.#key = key;
  }

  get file(): string {
    return this.#source.file;
  }

  get tokens(): readonly (string | number)[] {
    return this.#parent ? [...this.#parent.tokens, this.#key] : [];
  }

  place(key: string | number | null): { readonly line: number; readonly col: number } {
    const { text, lines } = this.#source;
    return lines.linePos(key === null ? this.#start : offsetOf(text, this.#start, String(key)));
  }
}

/** The offset of the whole collection if the member is missing. */
function offsetOf(text: string, start: number, key: string): number {
  const isList = text[start] === '[';
  let depth = 0;
  let entry = 0;
  let expected = true;
  for (let at = start; ; at++) {
    const character = text[at]!;
    if (' \t\r\n'.includes(character)) continue;
    if (depth === 1 && expected) {
      expected = false;
      if (isList ? String(entry) === key : character === '"' && parsed(text.slice(at, endOfString(text, at))) === key)
        return at;
    }
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (character === ',' && depth === 1) entry++;
    if (depth === 0) return start;
    expected = depth === 1 && (expected || character === ',' || at === start);
  }
}

import { Bag } from './bag.ts';
import { codesOf } from './character-codes.ts';
import type { JsonFault, Rule } from './fault.ts';
import { printablePointer } from './names.ts';
import { exact, isInteger, NUMBER } from './numbers.ts';
import { unlikeIntegers } from './value-marks.ts';

const hasOwn = Object.prototype.hasOwnProperty;

/** By depth: the first names of an object, all different and without escapes, which the next may repeat. */
interface Names {
  readonly list: string[];
  size: number;
}

/** Of names, and of characters of a name. */
const MOST = 32;

/** An Error costs a stack trace. */
export const MISTAKE = Symbol('mistake in JSON');

export class Reader {
  readonly text: string;
  readonly maxDepth: number;
  /** Two zeros follow the text: an escape at its end skips one. */
  readonly codes: Uint16Array;
  at = 0;
  depth = 0;
  /** Entries from `depth` on are stale. */
  readonly way: (string | number)[] = [];
  readonly names: Names[] = [];
  message = '';
  rule: Rule = 'syntax';
  /** The last value is an integer in another notation, such as `1.0`. */
  unlikeInteger = false;

  constructor(text: string, maxDepth: number) {
    this.text = text;
    this.maxDepth = maxDepth;
    this.codes = codesOf(text);
  }

  fault(): JsonFault {
    return {
      pointer: printablePointer(this.way.slice(0, this.depth)),
      offset: Buffer.byteLength(this.text.slice(0, this.at)),
      message: this.message,
      rule: this.rule,
      ...(this.rule === 'depth' && { limit: this.maxDepth }),
    };
  }

  fail(message: string, rule: Rule = 'syntax'): never {
    this.message = message;
    this.rule = rule;
    throw MISTAKE;
  }

  whole(): unknown {
    if (this.codes[0] === 0xfeff) this.fail('begins with a byte order mark', 'encoding');
    const value = this.value(this.space());
    this.space();
    if (this.at !== this.text.length) this.fail('has something after its end');
    return value;
  }

  /** Returns the next character code, 0 at the end. */
  space(): number {
    const { codes } = this;
    for (;;) {
      const c = codes[this.at]!;
      if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return c;
      this.at++;
    }
  }

  value(c: number): unknown {
    if (c === 34) return this.string();
    if (c === 123) return this.object();
    if (c === 91) return this.array();
    if (c === 116) return this.word('true', true);
    if (c === 102) return this.word('false', false);
    if (c === 110) return this.word('null', null);
    return this.number(c);
  }

  word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.fail('is not valid JSON: a value is expected');
    this.at += word.length;
    return value;
  }

  object(): Record<string, unknown> {
    const { way } = this;
    const object = new Bag();
    let c = this.open();
    if (c === 125) return this.close(object);
    this.names[this.depth] ??= { list: [], size: 0 };
    const names = this.names[this.depth]!;
    let repeats = true;
    for (let i = 0; ; i++) {
      if (c !== 34) this.fail('is not valid JSON: a name in double quotes is expected');
      repeats &&= i < names.size && this.isNext(names.list[i]!);
      const name = repeats ? names.list[i]! : this.newName(object, names, i);
      way[this.depth - 1] = name;
      if (this.space() !== 58) this.fail("is not valid JSON: ':' is expected");
      this.at++;
      object[name] = this.value(this.space());
      if (this.unlikeInteger) this.mark(object, name);
      c = this.space();
      if (c === 125) return this.close(object);
      if (c !== 44) this.fail("is not valid JSON: ',' or '}' is expected");
      this.at++;
      c = this.space();
    }
  }

  /** Comparing a name costs less than slicing and hashing it. */
  isNext(name: string): boolean {
    const { codes } = this;
    const start = this.at + 1;
    const end = start + name.length;
    if (codes[end] !== 34) return false;
    for (let i = start; i < end; i++) if (codes[i] !== name.charCodeAt(i - start)) return false;
    this.at = end + 1;
    return true;
  }

  newName(object: Record<string, unknown>, names: Names, i: number): string {
    const start = this.at;
    const name = this.string();
    if (hasOwn.call(object, name)) {
      this.way[this.depth - 1] = name;
      this.fail('is given more than once', 'repeated');
    }
    if (i <= names.size) {
      const fits = i < MOST && name.length <= MOST && name.length === this.at - start - 2;
      if (fits) names.list[i] = name;
      names.size = fits ? i + 1 : i;
    }
    return name;
  }

  array(): unknown[] {
    const { way } = this;
    const array: unknown[] = [];
    let c = this.open();
    if (c === 93) return this.close(array);
    for (;;) {
      way[this.depth - 1] = array.length;
      array.push(this.value(c));
      if (this.unlikeInteger) this.mark(array, array.length - 1);
      c = this.space();
      if (c === 93) return this.close(array);
      if (c !== 44) this.fail("is not valid JSON: ',' or ']' is expected");
      this.at++;
      c = this.space();
    }
  }

  mark(holder: object, key: string | number): void {
    this.unlikeInteger = false;
    unlikeIntegers.add(holder, key);
  }

  open(): number {
    if (this.depth === this.maxDepth) this.fail(`is nested deeper than ${this.maxDepth} levels`, 'depth');
    this.at++;
    const c = this.space();
    this.way[this.depth++] = '';
    return c;
  }

  close<T>(value: T): T {
    this.at++;
    this.depth--;
    return value;
  }

  string(): string {
    const { codes } = this;
    const start = this.at + 1;
    for (let i = start; ; i++) {
      const c = codes[i]!;
      if (c === 34) {
        this.at = i + 1;
        return this.text.slice(start, i);
      }
      if (c === 92) return this.escapedString(start, i);
      if (c < 32) this.badString(i);
    }
  }

  /** JSON.parse costs too much for strings without escapes. */
  escapedString(start: number, from: number): string {
    const { text, codes } = this;
    let i = from;
    for (let c = 92; c !== 34; c = codes[i]!) {
      if (c < 32) this.badString(i);
      i += c === 92 ? 2 : 1;
    }
    let string: string;
    try {
      string = JSON.parse(text.slice(start - 1, i + 1));
    } catch {
      this.fail('is not valid JSON: a string has an escape that does not exist');
    }
    if (!string.isWellFormed()) this.fail('has half a surrogate pair in a string', 'encoding');
    this.at = i + 1;
    return string;
  }

  badString(at: number): never {
    const ended = at >= this.text.length;
    this.at = Math.min(at, this.text.length);
    this.fail(`is not valid JSON: a string ${ended ? 'has no end' : 'has a control character in it'}`);
  }

  number(first: number): number | bigint {
    const { codes } = this;
    const negative = first === 45;
    let i = negative ? this.at + 1 : this.at;
    const start = i;
    let value = 0;
    let c = negative ? codes[i]! : first;
    while (c >= 48 && c <= 57) {
      value = value * 10 + c - 48;
      c = codes[++i]!;
    }
    const digits = i - start;
    const plain = c !== 46 && c !== 101 && c !== 69 && digits > 0 && digits < 16;
    if (!plain || (digits > 1 && codes[start] === 48)) return this.exactNumber();
    this.at = i;
    return negative ? -value : value;
  }

  exactNumber(): number | bigint {
    NUMBER.lastIndex = this.at;
    const text = NUMBER.exec(this.text)?.[0];
    if (text === undefined) this.fail('is not valid JSON: a value is expected');
    const value = exact(text);
    if (value === undefined) this.fail('is a number too large or too precise to be read exactly', 'precision');
    this.at += text.length;
    if (Number.isInteger(Number(value)) && !isInteger(text)) {
      this.unlikeInteger = true;
      unlikeIntegers.any = true;
    }
    return value;
  }
}

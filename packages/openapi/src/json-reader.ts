import { Bag } from './bag.ts';
import { codesOf } from './character-codes.ts';
import type { JsonFault, Rule } from './fault.ts';
import type { JsonResult } from './json.ts';
import { printablePointer } from './names.ts';
import { exact, isInteger, NUMBER } from './numbers.ts';
import { unlikeIntegers } from './value-marks.ts';

const hasOwn = Object.prototype.hasOwnProperty;

/** By depth: the first names of an object, all different and without escapes, which the next may repeat. */
interface Names {
  readonly list: string[];
  size: number;
  /** Where to go on in the object that is read. */
  next: number;
  repeats: boolean;
}

type Holder = unknown[] | Record<string, unknown>;

/** Of names, and of characters of a name. */
const MOST = 32;

/** An Error costs a stack trace. */
const MISTAKE = Symbol('mistake in JSON');

/** No character code. */
const OVER = -1;

export class Reader {
  readonly text: string;
  readonly maxDepth: number;
  /** Two zeros follow the text: an escape at its end skips one. */
  readonly codes: Uint16Array;
  at = 0;
  /** Where the step ends. */
  pause = 0;
  depth = 0;
  /** Entries from `depth` on are stale. */
  readonly way: (string | number)[] = [];
  readonly names: Names[] = [];
  /** By depth: what is not over yet. Entries behind `depth` are stale. */
  readonly holders: [undefined, ...Holder[]] = [undefined];
  value: unknown;
  message = '';
  rule: Rule = 'syntax';
  /** The last value is an integer in another notation, such as `1.0`. */
  unlikeInteger = false;
  marked = false;

  constructor(text: string, maxDepth: number) {
    this.text = text;
    this.maxDepth = maxDepth;
    this.codes = codesOf(text);
  }

  /** After `read` has returned `true`. Check the value before anything else is checked, because its marks are shared. */
  get result(): JsonResult {
    if (this.message !== '') return { fault: this.fault };
    if (this.marked) unlikeIntegers.any = true;
    return { value: this.value, fault: null, unlikeInteger: this.unlikeInteger };
  }

  get fault(): JsonFault {
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

  /** Reads on. Returns `true` if there is a result, and `false` after `most` characters and the value they end in. */
  read(most: number = Number.POSITIVE_INFINITY): boolean {
    try {
      return this.proceed(most);
    } catch (error) {
      if (error !== MISTAKE) throw error;
      return true;
    }
  }

  /** Without recursion, so that it can stop anywhere. */
  proceed(most: number): boolean {
    if (this.at === 0 && this.codes[0] === 0xfeff) this.fail('begins with a byte order mark', 'encoding');
    this.pause = this.at + most;
    for (let c = this.space(); c !== OVER; ) {
      if (this.at > this.pause) return false;
      if (c === 123) c = this.object();
      else if (c === 91) c = this.array();
      else c = this.put(this.scalar(c));
    }
    this.space();
    if (this.at !== this.text.length) this.fail('has something after its end');
    return true;
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

  scalar(c: number): unknown {
    if (c === 34) return this.string();
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

  /** This and what follows return the code of the next value's first character, or OVER. */
  object(): number {
    const object = new Bag();
    const c = this.open(object);
    if (c === 125) return this.put(this.close(object));
    this.names[this.depth] ??= { list: [], size: 0, next: 0, repeats: true };
    const names = this.names[this.depth]!;
    names.next = 0;
    names.repeats = true;
    return this.members(object, c);
  }

  array(): number {
    const array: unknown[] = [];
    const c = this.open(array);
    return c === 93 ? this.put(this.close(array)) : this.entries(array, c);
  }

  /** Closes what ends after it, too. */
  put(value: unknown): number {
    for (let last = value; ; ) {
      const holder = this.holders[this.depth];
      if (holder === undefined) {
        this.value = last;
        return OVER;
      }
      if (Array.isArray(holder)) {
        holder.push(last);
        if (this.unlikeInteger) this.mark(holder, holder.length - 1);
        const c = this.space();
        if (c === 44) return this.entries(holder, this.next());
        if (c !== 93) this.fail("is not valid JSON: ',' or ']' is expected");
      } else {
        const name = this.way[this.depth - 1]!;
        holder[name] = last;
        if (this.unlikeInteger) this.mark(holder, name);
        const c = this.space();
        if (c === 44) return this.members(holder, this.next());
        if (c !== 125) this.fail("is not valid JSON: ',' or '}' is expected");
      }
      last = this.close(holder);
    }
  }

  entries(array: unknown[], first: number): number {
    const { way, depth } = this;
    for (let c = first; ; c = this.next()) {
      way[depth - 1] = array.length;
      if (c === 123 || c === 91 || this.at > this.pause) return c;
      array.push(this.scalar(c));
      if (this.unlikeInteger) this.mark(array, array.length - 1);
      c = this.space();
      if (c === 93) return this.put(this.close(array));
      if (c !== 44) this.fail("is not valid JSON: ',' or ']' is expected");
    }
  }

  members(object: Record<string, unknown>, first: number): number {
    const { way, depth } = this;
    const names = this.names[depth]!;
    let { next: i, repeats } = names;
    for (let c = first; ; c = this.next()) {
      if (c !== 34) this.fail('is not valid JSON: a name in double quotes is expected');
      repeats &&= i < names.size && this.isNext(names.list[i]!);
      const name = repeats ? names.list[i]! : this.newName(object, names, i);
      i++;
      way[depth - 1] = name;
      if (this.space() !== 58) this.fail("is not valid JSON: ':' is expected");
      c = this.next();
      if (c === 123 || c === 91 || this.at > this.pause) {
        names.next = i;
        names.repeats = repeats;
        return c;
      }
      object[name] = this.scalar(c);
      if (this.unlikeInteger) this.mark(object, name);
      c = this.space();
      if (c === 125) return this.put(this.close(object));
      if (c !== 44) this.fail("is not valid JSON: ',' or '}' is expected");
    }
  }

  next(): number {
    this.at++;
    return this.space();
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

  mark(holder: object, key: string | number): void {
    this.unlikeInteger = false;
    unlikeIntegers.add(holder, key);
  }

  open(holder: Holder): number {
    if (this.depth === this.maxDepth) this.fail(`is nested deeper than ${this.maxDepth} levels`, 'depth');
    this.at++;
    const c = this.space();
    this.way[this.depth++] = '';
    this.holders[this.depth] = holder;
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
      this.marked = true;
    }
    return value;
  }
}

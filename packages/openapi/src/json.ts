import { Bag, WIDE, wideNames } from './bag.ts';
import { refuse } from './faults.ts';
import { isShort, ScalarReader } from './json-scalars.ts';
import { Marks, type Reading } from './marks.ts';
import type { Steps } from './slices.ts';
import { decodeUtf8, firstBadByte } from './utf8.ts';

const hasOwn = Object.prototype.hasOwnProperty;

/**
 * By depth: the first names of an object, all different and without escapes, which the next may
 * repeat.
 */
interface Names {
  readonly list: string[];
  size: number;
  /** Where to continue in the object that is read. */
  next: number;
  repeats: boolean;
  /** Of an object with more than `WIDE` members. */
  all: string[];
}

type Holder = unknown[] | Record<string, unknown>;

/** Of names, and of characters of a name. */
const MOST = 32;

/** No character code. */
const OVER = -1;

export class Reader extends ScalarReader {
  /** Where the step ends. */
  pause = 0;
  readonly names: Names[] = [];
  /** By depth: what is not over yet. Entries behind `depth` are stale. */
  readonly holders: [undefined, ...Holder[]] = [undefined];
  value: unknown;
  marks: Marks | null = null;

  /** After `read` has returned `true`. */
  get result(): Reading {
    return { value: this.value, marks: this.marks };
  }

  /**
   * Reads on. Returns `true` at the end, and `false` after `most` characters and the value they end
   * in. Without recursion, so that it can stop anywhere. @throws Unreadable
   */
  read(most: number = Number.POSITIVE_INFINITY): boolean {
    if (this.at === 0 && this.codes[0] === 0xfeff)
      this.fail('begins with a byte order mark', 'encoding');
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

  /** This and what follows return the code of the next value's first character, or OVER. */
  object(): number {
    const object = new Bag();
    const c = this.open(object);
    if (c === 125) return this.put(this.close(object));
    this.names[this.depth] ??= {
      list: [],
      size: 0,
      next: 0,
      repeats: true,
      all: [],
    };
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
        if (this.unlikeInteger) this.mark();
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
      if (c !== 34) {
        // The fault is of the object.
        this.depth--;
        this.fail('is not valid JSON: a name in double quotes is expected');
      }
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
    for (let i = start; i < end; i++)
      if (codes[i] !== name.charCodeAt(i - start)) return false;
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
    if (i >= WIDE) this.widen(object, names, i, name);
    if (i <= names.size) {
      const fits =
        i < MOST && name.length <= MOST && name.length === this.at - start - 2;
      if (fits) names.list[i] = name;
      names.size = fits ? i + 1 : i;
    }
    return name;
  }

  widen(object: object, names: Names, i: number, name: string): void {
    if (i === WIDE) {
      names.all = Object.keys(object);
      wideNames.set(object, names.all);
    }
    names.all.push(name);
  }

  mark(holder?: object, key?: string | number): void {
    this.unlikeInteger = false;
    this.marks ??= new Marks();
    this.marks.unlikeIntegers.add(holder, key);
  }

  open(holder: Holder): number {
    if (this.depth === this.maxDepth)
      this.fail(`is nested deeper than ${this.maxDepth} levels`, 'depth');
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
}

export const MAX_DEPTH = 64;

/** In characters: less than a millisecond. */
const STEP = 8 * 1024;

/**
 * Strict (RFC 8259): UTF-8 without a byte order mark, unique names per object, nothing after the
 * value, no unpaired surrogates. Numbers are exact, see `exact` in numbers.ts. @throws Unreadable
 */
export function readJsonText(
  text: string,
  maxDepth = MAX_DEPTH,
  namesBytes = false,
): Reading {
  const reader = new Reader(text, maxDepth, namesBytes);
  reader.read();
  return reader.result;
}

/** `readJsonText` of bytes, in steps. @throws Unreadable */
export function* readJsonInSteps(
  bytes: Uint8Array,
  maxDepth = MAX_DEPTH,
): Steps<Reading> {
  const text =
    decodeUtf8(bytes) ??
    refuse(`is not UTF-8 (at byte ${firstBadByte(bytes)})`, 'encoding');
  if (isShort(text)) return readJsonText(text, maxDepth, true);
  yield;
  const reader = new Reader(text, maxDepth, true);
  while (!reader.read(STEP)) yield;
  yield;
  return reader.result;
}

/** Sorted, disjoint, inclusive ranges of code points. */
export type CharacterSet = readonly (readonly [from: number, to: number])[];

export const TEXT_START = -1;
export const TEXT_END = -2;

const LAST_CHARACTER = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
const PAGE = 0x100;

const NAMED_CLASS = /^\[(?:[^\\]|\\[-^$\\.*+?()[\]{}|/])*\]$/u;

const CASED = /[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]/gu;

/**
 * The engine decides for each character, so that `\w`, `[^@]` and `\p{Lu}` have its meaning. For a
 * class that lists its characters, the first character after them stands for all that follow.
 */
export class Characters {
  readonly #sets = new Map<string, CharacterSet>();
  readonly #flags: string;
  #alphabet = '';
  #cased = '';

  constructor(flags: '' | 'i') {
    this.#flags = `gu${flags}`;
  }

  of(source: string): CharacterSet {
    let set = this.#sets.get(source);
    if (!set) {
      set = this.#measure(source);
      this.#sets.set(source, set);
    }
    return set;
  }

  one(character: number): CharacterSet {
    const source = `\\u{${character.toString(16)}}`;
    let set = this.#sets.get(source);
    if (!set) {
      set = this.#same(character, source);
      this.#sets.set(source, set);
    }
    return set;
  }

  #same(character: number, source: string): CharacterSet {
    if (this.#flags === 'gu') return [[character, character]];
    this.#cased ||= (
      this.#charactersUpTo(LAST_CHARACTER).match(CASED) ?? []
    ).join('');
    const same = new RegExp(source, this.#flags);
    const found = new Set([
      character,
      ...(this.#cased.match(same) ?? []).map((other) => other.codePointAt(0)!),
    ]);
    return [...found].sort((a, b) => a - b).map((other) => [other, other]);
  }

  #measure(source: string): CharacterSet {
    const end = this.#flags === 'gu' ? lastToAsk(source) : LAST_CHARACTER;
    const ranges: [number, number][] = [];
    for (const [run] of this.#charactersUpTo(end).matchAll(
      new RegExp(`${source}+`, this.#flags),
    )) {
      const last = lastCodePoint(run);
      ranges.push([run.codePointAt(0)!, last === end ? LAST_CHARACTER : last]);
    }
    return ranges;
  }

  #charactersUpTo(end: number): string {
    if (end !== LAST_CHARACTER) return charactersUpTo(end);
    this.#alphabet ||= charactersUpTo(end);
    return this.#alphabet;
  }
}

export const CHARACTERS = { '': new Characters(''), i: new Characters('i') };

/** The last of Unicode if `source` may match others than it lists. */
function lastToAsk(source: string): number {
  if (!NAMED_CLASS.test(source)) return LAST_CHARACTER;
  const behind =
    1 +
    Math.max(...Array.from(source, (character) => character.codePointAt(0)!));
  return behind < FIRST_SURROGATE ? behind : LAST_CHARACTER;
}

/** Plain loops: closures over a million characters take five times as long. */
function charactersUpTo(end: number): string {
  const pages: string[] = [];
  for (let start = 0; start <= end; start += PAGE) {
    const page: number[] = [];
    for (let c = start; c < start + PAGE && c <= end; c++)
      if (c < FIRST_SURROGATE || c > LAST_SURROGATE) page.push(c);
    pages.push(String.fromCodePoint(...page));
  }
  return pages.join('');
}

/** A character has one or two code units. */
const lastCodePoint = (text: string): number =>
  Array.from(text.slice(-2)).at(-1)!.codePointAt(0)!;

export function overlap(a: CharacterSet, b: CharacterSet): boolean {
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i]![1] < b[j]![0]) i++;
    else if (b[j]![1] < a[i]![0]) j++;
    else return true;
  }
  return false;
}

export function includes(set: CharacterSet, character: number): boolean {
  let low = 0;
  let high = set.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [from, to] = set[middle]!;
    if (character < from) high = middle - 1;
    else if (character > to) low = middle + 1;
    else return true;
  }
  return false;
}

const ASCII = 128;

/** Characters that are in the same sets are of one kind. */
export class Alphabet {
  /** The kind of the end of the text, one more than that of any character. */
  readonly end: number;
  /** Where a range of characters begins, and the kind of the range. */
  readonly #edges: Int32Array;
  readonly #kinds: Int32Array;
  readonly #ascii: Int32Array;
  #divisions = 0;

  constructor(sets: ReadonlySet<CharacterSet>) {
    const edges = new Set([0]);
    for (const set of sets) {
      for (const [from, to] of set) if (from >= 0) edges.add(from).add(to + 1);
    }
    this.#edges = Int32Array.from(edges).sort();
    this.#kinds = new Int32Array(edges.size);
    for (const set of sets) this.#divide(set);
    const kinds = [...new Set(this.#kinds)];
    const numbers = new Map(kinds.map((kind, number) => [kind, number]));
    this.#kinds = this.#kinds.map((kind) => numbers.get(kind)!);
    this.end = kinds.length;
    this.#ascii = Int32Array.from(
      { length: ASCII },
      (_, character) => this.#kinds[this.#rangeOf(character)]!,
    );
  }

  kindOf(character: number): number {
    return character < ASCII
      ? this.#ascii[character]!
      : this.#kinds[this.#rangeOf(character)]!;
  }

  kindsIn(set: CharacterSet): ReadonlySet<number> {
    return new Set(this.#rangesIn(set).map((range) => this.#kinds[range]!));
  }

  #divide(set: CharacterSet): void {
    const inside = new Map<number, number>();
    for (const range of this.#rangesIn(set)) {
      const kind = this.#kinds[range]!;
      if (!inside.has(kind)) inside.set(kind, ++this.#divisions);
      this.#kinds[range] = inside.get(kind)!;
    }
  }

  #rangesIn(set: CharacterSet): number[] {
    const ranges: number[] = [];
    for (const [from, to] of set) {
      if (from < 0) continue;
      for (
        let range = this.#rangeOf(from);
        range < this.#edges.length && this.#edges[range]! <= to;
        range++
      )
        ranges.push(range);
    }
    return ranges;
  }

  #rangeOf(character: number): number {
    const edges = this.#edges;
    let low = 0;
    let high = edges.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (edges[middle]! <= character) low = middle;
      else high = middle;
    }
    return low;
  }
}

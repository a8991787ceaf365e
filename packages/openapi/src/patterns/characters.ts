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
export function createCharacters(flag: '' | 'i') {
  const flags = `gu${flag}`;
  const sets = new Map<string, CharacterSet>();
  let alphabet = '';
  let cased = '';

  function remembered(
    source: string,
    measure: () => CharacterSet,
  ): CharacterSet {
    const set = sets.get(source) ?? measure();
    sets.set(source, set);
    return set;
  }

  function sameAs(character: number, source: string): CharacterSet {
    if (flag === '') return [[character, character]];
    cased ||= (textUpTo(LAST_CHARACTER).match(CASED) ?? []).join('');
    const same = cased.match(new RegExp(source, flags)) ?? [];
    const found = new Set([
      character,
      ...same.map((other) => other.codePointAt(0)!),
    ]);
    return [...found].sort((a, b) => a - b).map((other) => [other, other]);
  }

  function measured(source: string): CharacterSet {
    const end = flag === '' ? lastToAsk(source) : LAST_CHARACTER;
    const runs = textUpTo(end).matchAll(new RegExp(`${source}+`, flags));
    return Array.from(runs, ([run]) => {
      const last = lastCodePoint(run);
      return [run.codePointAt(0)!, last === end ? LAST_CHARACTER : last];
    });
  }

  function textUpTo(end: number): string {
    if (end !== LAST_CHARACTER) return charactersUpTo(end);
    alphabet ||= charactersUpTo(end);
    return alphabet;
  }

  return {
    of: (source: string) => remembered(source, () => measured(source)),
    one(character: number): CharacterSet {
      const source = `\\u{${character.toString(16)}}`;
      return remembered(source, () => sameAs(character, source));
    },
  };
}

export const CHARACTERS = {
  '': createCharacters(''),
  i: createCharacters('i'),
};

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
const lastCodePoint = (text: string) =>
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
export function createAlphabet(sets: ReadonlySet<CharacterSet>) {
  /** Where a range of characters begins. */
  const edges = Int32Array.from(
    new Set([0, ...[...sets].flat().flatMap(([from, to]) => [from, to + 1])]),
  )
    .filter((edge) => edge >= 0)
    .sort();
  const divided = new Int32Array(edges.length);
  let divisions = 0;
  for (const set of sets) {
    const inside = new Map<number, number>();
    for (const range of rangesIn(set)) {
      const kind = divided[range]!;
      if (!inside.has(kind)) inside.set(kind, ++divisions);
      divided[range] = inside.get(kind)!;
    }
  }
  const numbers = new Map([...new Set(divided)].map((kind, i) => [kind, i]));
  /** Of each range. */
  const kinds = divided.map((kind) => numbers.get(kind)!);
  const ascii = Int32Array.from(
    { length: ASCII },
    (_, character) => kinds[rangeOf(character)]!,
  );

  function rangesIn(set: CharacterSet): number[] {
    const ranges: number[] = [];
    for (const [from, to] of set) {
      if (from < 0) continue;
      let range = rangeOf(from);
      while (range < edges.length && edges[range]! <= to) ranges.push(range++);
    }
    return ranges;
  }

  function rangeOf(character: number): number {
    let low = 0;
    let high = edges.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (edges[middle]! <= character) low = middle;
      else high = middle;
    }
    return low;
  }

  return {
    /** The kind of the end of the text, one more than that of any character. */
    end: numbers.size,
    kindOf: (character: number) =>
      character < ASCII ? ascii[character]! : kinds[rangeOf(character)]!,
    kindsIn: (set: CharacterSet) =>
      new Set(rangesIn(set).map((range) => kinds[range]!)),
  };
}

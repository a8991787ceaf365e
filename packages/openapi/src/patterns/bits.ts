/** A bit per position of an automaton. */
export type Bits = Int32Array;

/** Some words of `Bits`: the number of each, and its bits. */
export type FewBits = readonly (readonly [word: number, bits: number])[];

/** In fours: if a word has some of the bits, another word gets bits. */
export type Rules = Int32Array;

export const wordsFor = (positions: number): number => Math.ceil(positions / 32);

export const has = (bits: Bits, position: number): boolean =>
  (bits[position >> 5]! & (1 << position)) !== 0;

export function isEmpty(bits: Bits): boolean {
  for (let word = 0; word < bits.length; word++) if (bits[word] !== 0) return false;
  return true;
}

export function add(bits: Bits, positions: Iterable<number>): void {
  for (const position of positions) bits[position >> 5]! |= 1 << position;
}

export function fewBits(positions: Iterable<number>): FewBits {
  const words = new Map<number, number>();
  for (const position of positions) {
    const word = position >> 5;
    words.set(word, (words.get(word) ?? 0) | (1 << position));
  }
  return [...words];
}

export function addFew(to: Bits, few: FewBits): void {
  for (const [word, bits] of few) to[word]! |= bits;
}

export const rulesFor = (from: FewBits, to: FewBits): number[] =>
  from.flatMap((condition) => to.flatMap((bits) => [...condition, ...bits]));

export function follow(rules: Rules, from: Bits, to: Bits): void {
  for (let i = 0; i < rules.length; i += 4) {
    if ((from[rules[i]!]! & rules[i + 1]!) !== 0) to[rules[i + 2]!]! |= rules[i + 3]!;
  }
}

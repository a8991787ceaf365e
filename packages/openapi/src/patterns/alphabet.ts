import type { CharacterSet } from './characters.ts';

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
    return character < ASCII ? this.#ascii[character]! : this.#kinds[this.#rangeOf(character)]!;
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

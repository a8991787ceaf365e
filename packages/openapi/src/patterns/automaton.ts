import {
  type CharacterSet,
  includes,
  overlap,
  TEXT_END,
  TEXT_START,
} from './characters.ts';
import type { Leaf, Term } from './syntax.ts';

const MAX_POSITIONS = 8192;
const MAX_LINKED = 65_536;
const MAX_COMPARED = 4096;

export class TooLarge extends Error {}

interface Part {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly empty: boolean;
}

/** Each of `to` may follow each of `from`. */
export interface Link {
  readonly from: readonly number[];
  readonly to: readonly number[];
}

export interface Reading {
  /** `loop` reads `x{2,5}` as `x+`, which is enough to detect ambiguity. */
  readonly counts: 'loop' | 'copy';
  readonly backward?: boolean;
}

const NO_CHARACTERS: CharacterSet = [];

const EMPTY: Part = { first: [], last: [], empty: true };

/** Glushkov 1961: a position per character of the pattern. */
export class Automaton {
  readonly leaves: Leaf[] = [];
  readonly links: Link[] = [];
  readonly whole: Part;
  readonly #reading: Reading;
  #linked = 0;
  /** Whether the same characters match in two ways, as in `(a*)*`. */
  #ambiguous = false;

  constructor(term: Term, reading: Reading) {
    this.#reading = reading;
    this.whole = this.#build(term);
  }

  /** If so, no matcher can backtrack far. */
  get deterministic(): boolean {
    const follow = this.leaves.map(() => new Set<number>());
    let compared = 0;
    for (const { from, to } of this.links) {
      compared += from.length * to.length;
      if (compared > MAX_COMPARED) return false;
      for (const a of from) {
        for (const b of to) {
          if (follow[a]!.has(b)) return false;
          follow[a]!.add(b);
        }
      }
    }
    return (
      !this.#ambiguous &&
      [this.whole.first, ...follow].every((next) => this.#distinct([...next]))
    );
  }

  get anchored(): boolean {
    return (
      !this.whole.empty &&
      this.whole.first.every((position) =>
        includes(this.setAt(position), TEXT_START),
      )
    );
  }

  setAt(position: number): CharacterSet {
    const leaf = this.leaves[position]!;
    return leaf.kind === 'character' ? leaf.set : NO_CHARACTERS;
  }

  #distinct(positions: readonly number[]): boolean {
    return positions.every((a, i) =>
      positions.every(
        (b, j) => j <= i || !overlap(this.setAt(a), this.setAt(b)),
      ),
    );
  }

  #build(term: Term): Part {
    switch (term.kind) {
      case 'character':
        return this.#position(this.#reading.backward ? mirrored(term) : term);
      case 'look':
        return this.#position(term);
      case 'choice':
        return this.#choice(term.options.map((option) => this.#build(option)));
      case 'repeat':
        return this.#repeat(term);
      case 'sequence': {
        const parts = this.#reading.backward
          ? term.parts.toReversed()
          : term.parts;
        return this.#join(parts.map((part) => this.#build(part)));
      }
      case 'back-reference':
        throw new Error('A back-reference has no automaton.');
    }
  }

  #position(leaf: Leaf): Part {
    if (this.leaves.length === MAX_POSITIONS) throw new TooLarge();
    const position = this.leaves.push(leaf) - 1;
    return { first: [position], last: [position], empty: false };
  }

  #choice(options: readonly Part[]): Part {
    const empty = options.filter((option) => option.empty).length;
    if (empty > 1) this.#ambiguous = true;
    return {
      first: options.flatMap((option) => option.first),
      last: options.flatMap((option) => option.last),
      empty: empty > 0,
    };
  }

  #join(parts: readonly Part[]): Part {
    return parts.reduce((before, after) => {
      this.#link(before.last, after.first);
      return {
        first: before.empty ? [...before.first, ...after.first] : before.first,
        last: after.empty ? [...before.last, ...after.last] : after.last,
        empty: before.empty && after.empty,
      };
    }, EMPTY);
  }

  #repeat({ body, least, most }: Term & { kind: 'repeat' }): Part {
    if (most === 0) return EMPTY;
    const known = this.leaves.length;
    const part = this.#build(body);
    if (this.leaves.length === known) return EMPTY;
    const endless = most === Number.POSITIVE_INFINITY;
    if (
      this.#reading.counts === 'loop' ||
      (least <= 1 && (most === 1 || endless))
    ) {
      return least === 0
        ? { ...this.#loop(part, most), empty: true }
        : this.#loop(part, most);
    }
    const copies = [part];
    while (copies.length < (endless ? least : most))
      copies.push(this.#build(body));
    return endless
      ? this.#join([...copies.slice(0, -1), this.#loop(copies.at(-1)!, most)])
      : this.#nest(copies, least);
  }

  #loop(part: Part, most: number): Part {
    if (most > 1) {
      if (part.empty) this.#ambiguous = true;
      this.#link(part.last, part.first);
    }
    return part;
  }

  /** `x{2,4}` as xx(x(x)?)?. */
  #nest(copies: readonly Part[], least: number): Part {
    const optional = copies.slice(least);
    let first: readonly number[] = [];
    for (const copy of optional.toReversed()) {
      this.#link(copy.last, first);
      first = copy.empty ? [...copy.first, ...first] : copy.first;
    }
    const last = optional.flatMap((copy) => copy.last);
    return this.#join([
      ...copies.slice(0, least),
      { first, last, empty: true },
    ]);
  }

  #link(from: readonly number[], to: readonly number[]): void {
    if (from.length === 0 || to.length === 0) return;
    this.#linked += from.length + to.length;
    if (this.#linked > MAX_LINKED) throw new TooLarge();
    this.links.push({ from, to });
  }
}

function mirrored(leaf: Leaf & { kind: 'character' }): Leaf {
  const symbol = leaf.set[0]?.[0];
  if (symbol !== TEXT_START && symbol !== TEXT_END) return leaf;
  const other = symbol === TEXT_START ? TEXT_END : TEXT_START;
  return { kind: 'character', set: [[other, other]] };
}

import { type CharacterSet, includes, overlap, TEXT_END, TEXT_START } from './characters.ts';
import type { Term } from './syntax.ts';

/** With more positions, even linear-time matching would be slow. */
const MAX_POSITIONS = 512;
const MAX_LINKS = 4096;

export class TooLarge extends Error {}

interface Part {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly empty: boolean;
}

const EMPTY: Part = { first: [], last: [], empty: true };

/** Glushkov 1961. `counts: 'loop'` reads `x{2,5}` as `x+`, which is enough to detect ambiguity. */
export class Automaton {
  readonly sets: CharacterSet[] = [];
  readonly follow: Set<number>[] = [];
  readonly whole: Part;
  /** Whether the same characters match in two ways, as in `(a*)*`. */
  ambiguous = false;
  #links = 0;
  readonly #counts: 'loop' | 'copy';

  constructor(term: Term, counts: 'loop' | 'copy') {
    this.#counts = counts;
    this.whole = this.#build(term);
  }

  /** If so, no matcher can backtrack far. */
  get deterministic(): boolean {
    return (
      !this.ambiguous && this.#distinct(this.whole.first) && this.follow.every((next) => this.#distinct([...next]))
    );
  }

  get anchored(): boolean {
    return !this.whole.empty && this.whole.first.every((position) => this.#reads(position, TEXT_START));
  }

  /** Whether `^` only comes first and `$` only last, as the matcher requires. */
  get plain(): boolean {
    return this.follow.every(
      (next, from) =>
        (next.size === 0 || !this.#reads(from, TEXT_END)) && ![...next].some((to) => this.#reads(to, TEXT_START)),
    );
  }

  #reads(position: number, symbol: number): boolean {
    return includes(this.sets[position]!, symbol);
  }

  #distinct(positions: readonly number[]): boolean {
    return positions.every((a, i) => positions.every((b, j) => j <= i || !overlap(this.sets[a]!, this.sets[b]!)));
  }

  #build(term: Term): Part {
    if (term.kind === 'character') return this.#position(term.set);
    if (term.kind === 'choice') return this.#choice(term.options.map((option) => this.#build(option)));
    if (term.kind === 'repeat') return this.#repeat(term);
    if (term.kind === 'sequence') return this.#sequence(term.parts.map((part) => this.#build(part)));
    return EMPTY;
  }

  #position(set: CharacterSet): Part {
    if (this.sets.length === MAX_POSITIONS) throw new TooLarge();
    const position = this.sets.push(set) - 1;
    this.follow.push(new Set());
    return { first: [position], last: [position], empty: false };
  }

  #choice(options: readonly Part[]): Part {
    const empty = options.filter((option) => option.empty).length;
    if (empty > 1) this.ambiguous = true;
    return {
      first: options.flatMap((option) => option.first),
      last: options.flatMap((option) => option.last),
      empty: empty > 0,
    };
  }

  #sequence(parts: readonly Part[]): Part {
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
    if (this.#counts === 'copy' && (least > 1 || (most > 1 && most < Number.POSITIVE_INFINITY))) {
      return this.#copies(body, least, most);
    }
    const part = this.#build(body);
    if (most > 1) {
      if (part.empty) this.ambiguous = true;
      this.#link(part.last, part.first);
    }
    return least === 0 ? { ...part, empty: true } : part;
  }

  /** `x{2,}` as xx+, `x{2,4}` as xx(x(x)?)?. */
  #copies(body: Term, least: number, most: number): Part {
    const endless = most === Number.POSITIVE_INFINITY;
    const required = Array.from({ length: endless ? least - 1 : least }, () => this.#build(body));
    if (endless) return this.#sequence([...required, this.#build({ kind: 'repeat', body, least: 1, most })]);
    let optional = EMPTY;
    for (let i = least; i < most; i++) optional = { ...this.#sequence([this.#build(body), optional]), empty: true };
    return this.#sequence([...required, optional]);
  }

  #link(from: readonly number[], to: readonly number[]): void {
    for (const a of from) {
      const next = this.follow[a]!;
      for (const b of to) {
        if (next.has(b)) this.ambiguous = true;
        next.add(b);
      }
      this.#links += to.length;
      if (this.#links > MAX_LINKS) throw new TooLarge();
    }
  }
}

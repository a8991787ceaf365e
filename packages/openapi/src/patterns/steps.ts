import { Automaton, type Link, TooLarge } from './automaton.ts';
import { Alphabet, includes, TEXT_END, TEXT_START } from './characters.ts';
import type { Look, Term } from './syntax.ts';

/** A bit per position of an automaton. */
export type Bits = Int32Array;

/** Some words of `Bits`: the number of each, and its bits. */
type FewBits = readonly (readonly [word: number, bits: number])[];

/** In fours: if a word has some of the bits, another word gets bits. */
type Rules = Int32Array;

const wordsFor = (positions: number): number => Math.ceil(positions / 32);

const has = (bits: Bits, position: number): boolean =>
  (bits[position >> 5]! & (1 << position)) !== 0;

export function isEmpty(bits: Bits): boolean {
  for (let word = 0; word < bits.length; word++)
    if (bits[word] !== 0) return false;
  return true;
}

function add(bits: Bits, positions: Iterable<number>): void {
  for (const position of positions) bits[position >> 5]! |= 1 << position;
}

function fewBits(positions: Iterable<number>): FewBits {
  const words = new Map<number, number>();
  for (const position of positions) {
    const word = position >> 5;
    words.set(word, (words.get(word) ?? 0) | (1 << position));
  }
  return [...words];
}

function addFew(to: Bits, few: FewBits): void {
  for (const [word, bits] of few) to[word]! |= bits;
}

const rulesFor = (from: FewBits, to: FewBits): number[] =>
  from.flatMap((condition) => to.flatMap((bits) => [...condition, ...bits]));

function follow(rules: Rules, from: Bits, to: Bits): void {
  for (let i = 0; i < rules.length; i += 4) {
    if ((from[rules[i]!]! & rules[i + 1]!) !== 0)
      to[rules[i + 2]!]! |= rules[i + 3]!;
  }
}

/** A position that reads no character. */
interface Assertion {
  readonly position: number;
  readonly edge: 'first' | 'last' | null;
  /** Of the facts about a place. */
  readonly fact: number;
  readonly negative: boolean;
  readonly next: FewBits;
}

/** What is known where a character, or the end of the text, is read. */
export interface Place {
  readonly kind: number;
  readonly first: boolean;
  readonly facts: number;
}

/** Words and rules of a step, which takes a few microseconds at most. */
const MAX_WORK = 1024;
/** In rules: an assertion is a call. */
const WORK_OF_ASSERTION = 4;
const MAX_MASKS = 65_536;

/** Follows all paths through a pattern at once; 32 positions take as long as one. */
export class Steps {
  readonly alphabet: Alphabet;
  /** The positions that may read the first character. */
  readonly start: Bits;
  readonly #words: number;
  readonly #accepting: number;
  /** The positions that read characters of a kind. */
  readonly #masks: readonly Bits[];
  /** The positions that follow the position before them. */
  readonly #successors: Bits;
  readonly #rules: Rules;
  readonly #assertions: readonly Assertion[];
  /** A match may begin at every character. */
  readonly #restart: Bits;
  readonly #now: Bits;

  constructor(term: Term, backward: boolean, facts: ReadonlyMap<Look, number>) {
    const automaton = new Automaton(term, { counts: 'copy', backward });
    const { leaves, whole } = automaton;
    this.#accepting = leaves.length;
    this.#words = wordsFor(leaves.length + 1);
    this.alphabet = new Alphabet(
      new Set(leaves.map((_, position) => automaton.setAt(position))),
    );
    this.#masks = this.#masksOf(automaton);
    const links = [
      ...automaton.links,
      { from: whole.last, to: [this.#accepting] },
    ];
    this.#assertions = assertionsOf(automaton, links, facts);
    const asserting = new Set(this.#assertions.map(({ position }) => position));
    const reading = links.map(({ from, to }) => ({
      from: from.filter((position) => !asserting.has(position)),
      to,
    }));
    this.#successors = this.#bits(
      reading.filter(isSuccessor).map(({ to }) => to[0]!),
    );
    const others = reading.filter((link) => !isSuccessor(link));
    this.#rules = rulesOf(others);
    this.#now = this.#bits([]);
    const first = whole.empty ? [...whole.first, this.#accepting] : whole.first;
    this.start = this.#bits(first);
    const onlyFirst = new Set(
      this.#assertions
        .filter(({ edge }) => edge === 'first')
        .map(({ position }) => position),
    );
    this.#restart = this.#bits(
      first.filter((position) => !onlyFirst.has(position)),
    );
    if (this.#work > MAX_WORK) throw new TooLarge();
  }

  get #work(): number {
    const assertions = this.#assertions.reduce(
      (sum, { next }) => sum + WORK_OF_ASSERTION + next.length,
      0,
    );
    return this.#words + this.#rules.length / 4 + assertions;
  }

  /**
   * Whether a match ends before the character; `to` gets the positions that may read the next one.
   */
  take(from: Bits, place: Place, to: Bits): boolean {
    const now = this.#now;
    const restart = this.#restart;
    const successors = this.#successors;
    const mask = this.#masks[place.kind]!;
    now.set(from);
    if (this.#assertions.length > 0)
      this.#pass((assertion) => this.#holds(assertion, place));
    const accepts = has(now, this.#accepting);
    let carry = 0;
    for (let word = 0; word < to.length; word++) {
      const read = now[word]! & mask[word]!;
      now[word] = read;
      to[word] = restart[word]! | (((read << 1) | carry) & successors[word]!);
      carry = read >>> 31;
    }
    follow(this.#rules, now, to);
    return accepts;
  }

  /** The facts that the next step may depend on. */
  asks(from: Bits): number {
    let facts = 0;
    this.#now.set(from);
    this.#pass(({ fact }) => {
      facts |= fact;
      return true;
    });
    return facts;
  }

  #holds({ edge, fact, negative }: Assertion, place: Place): boolean {
    if (edge === null) return ((place.facts & fact) === 0) === negative;
    return edge === 'first' ? place.first : place.kind === this.alphabet.end;
  }

  #pass(holds: (assertion: Assertion) => boolean): void {
    let left = this.#assertions;
    for (let waiting = -1; left.length !== waiting; ) {
      waiting = left.length;
      left = left.filter((assertion) => {
        if (!has(this.#now, assertion.position)) return true;
        if (holds(assertion)) addFew(this.#now, assertion.next);
        return false;
      });
    }
  }

  #masksOf(automaton: Automaton): Bits[] {
    const { alphabet } = this;
    const masks = Array.from({ length: alphabet.end + 1 }, () =>
      this.#bits([]),
    );
    if (masks.length * this.#words > MAX_MASKS) throw new TooLarge();
    const positions = Map.groupBy(automaton.leaves.keys(), (position) =>
      automaton.setAt(position),
    );
    for (const [set, all] of positions) {
      for (const kind of alphabet.kindsIn(set)) add(masks[kind]!, all);
    }
    return masks;
  }

  #bits(positions: Iterable<number>): Bits {
    const bits = new Int32Array(this.#words);
    add(bits, positions);
    return bits;
  }
}

const isSuccessor = ({ from, to }: Link): boolean =>
  from.length === 1 && to.length === 1 && to[0] === from[0]! + 1;

function rulesOf(links: readonly Link[]): Rules {
  const rules: number[] = [];
  for (const { from, to } of links) {
    rules.push(...rulesFor(fewBits(from), fewBits(to)));
    if (rules.length > 4 * MAX_WORK) throw new TooLarge();
  }
  return Int32Array.from(rules);
}

function assertionsOf(
  automaton: Automaton,
  links: readonly Link[],
  facts: ReadonlyMap<Look, number>,
): Assertion[] {
  const next = new Map<number, number[]>();
  automaton.leaves.forEach((leaf, position) => {
    const set = automaton.setAt(position);
    if (
      leaf.kind === 'look' ||
      includes(set, TEXT_START) ||
      includes(set, TEXT_END)
    )
      next.set(position, []);
  });
  for (const { from, to } of links)
    for (const position of from) next.get(position)?.push(...to);
  return [...next].map(([position, to]) => {
    const leaf = automaton.leaves[position]!;
    const look = leaf.kind === 'look' ? leaf : null;
    const edge = look
      ? null
      : includes(automaton.setAt(position), TEXT_START)
        ? 'first'
        : 'last';
    const fact = look ? facts.get(look.look)! : 0;
    return {
      position,
      edge,
      fact,
      negative: look?.negative ?? false,
      next: fewBits(to),
    };
  });
}

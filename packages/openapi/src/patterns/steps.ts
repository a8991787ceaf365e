import { createAutomaton, type Link, TooLarge } from './automaton.ts';
import {
  createAlphabet,
  includes,
  TEXT_END,
  TEXT_START,
} from './characters.ts';
import type { Leaf, Look, Term } from './syntax.ts';

/** A bit per position of an automaton. */
export type Bits = Int32Array;

/** Some words of `Bits`: the number of each, and its bits. */
type FewBits = readonly (readonly [word: number, bits: number])[];

/** In fours: if a word has some of the bits, another word gets bits. */
type Rules = Int32Array;

const has = (bits: Bits, position: number) =>
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

const rulesFor = (from: FewBits, to: FewBits) =>
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

/**
 * Follows all paths through a pattern at once; 32 positions take as long as one.
 *
 * @throws TooLarge
 */
export function createSteps(
  term: Term,
  backward: boolean,
  facts: ReadonlyMap<Look, number>,
) {
  const automaton = createAutomaton(term, 'copy', backward);
  const { leaves, whole } = automaton;
  const accepting = leaves.length;
  const words = Math.ceil((accepting + 1) / 32);
  const bitsOf = (positions: Iterable<number>): Bits => {
    const bits = new Int32Array(words);
    add(bits, positions);
    return bits;
  };
  const alphabet = createAlphabet(new Set(leaves.map(({ set }) => set)));
  const links = [...automaton.links, { from: whole.last, to: [accepting] }];
  const assertions = assertionsOf(leaves, links, facts);
  const asserting = new Set(assertions.map(({ position }) => position));
  const reading = links.map(({ from, to }) => ({
    from: from.filter((position) => !asserting.has(position)),
    to,
  }));
  /** The positions that follow the position before them. */
  const successors = bitsOf(
    reading.filter(isSuccessor).map(({ to }) => to[0]!),
  );
  const rules = rulesOf(reading.filter((link) => !isSuccessor(link)));
  const first = whole.empty ? [...whole.first, accepting] : whole.first;
  const onlyFirst = new Set(
    assertions
      .filter(({ edge }) => edge === 'first')
      .map(({ position }) => position),
  );
  /** A match may begin at every character. */
  const restart = bitsOf(first.filter((position) => !onlyFirst.has(position)));
  const now = bitsOf([]);
  const work = assertions.reduce(
    (sum, { next }) => sum + WORK_OF_ASSERTION + next.length,
    words + rules.length / 4,
  );
  if (work > MAX_WORK) throw new TooLarge();
  if ((alphabet.end + 1) * words > MAX_MASKS) throw new TooLarge();
  /** The positions that read characters of a kind. */
  const masks = Array.from({ length: alphabet.end + 1 }, () => bitsOf([]));
  const positions = Map.groupBy(leaves.keys(), (at) => leaves[at]!.set);
  for (const [set, all] of positions)
    for (const kind of alphabet.kindsIn(set)) add(masks[kind]!, all);

  /**
   * Whether a match ends before the character; `to` gets the positions that may read the next one.
   */
  function take(from: Bits, place: Place, to: Bits): boolean {
    const mask = masks[place.kind]!;
    now.set(from);
    if (assertions.length > 0) pass((assertion) => holds(assertion, place));
    const accepts = has(now, accepting);
    let carry = 0;
    for (let word = 0; word < to.length; word++) {
      const read = now[word]! & mask[word]!;
      now[word] = read;
      to[word] = restart[word]! | (((read << 1) | carry) & successors[word]!);
      carry = read >>> 31;
    }
    follow(rules, now, to);
    return accepts;
  }

  /** The facts that the next step may depend on. */
  function asks(from: Bits): number {
    let facts = 0;
    now.set(from);
    pass(({ fact }) => {
      facts |= fact;
      return true;
    });
    return facts;
  }

  function holds({ edge, fact, negative }: Assertion, place: Place): boolean {
    if (edge === null) return ((place.facts & fact) === 0) === negative;
    return edge === 'first' ? place.first : place.kind === alphabet.end;
  }

  function pass(holds: (assertion: Assertion) => boolean): void {
    let remaining = assertions;
    for (let waiting = -1; remaining.length !== waiting; ) {
      waiting = remaining.length;
      remaining = remaining.filter((assertion) => {
        if (!has(now, assertion.position)) return true;
        if (holds(assertion)) addFew(now, assertion.next);
        return false;
      });
    }
  }

  /** `start`: the positions that may read the first character. */
  return { alphabet, start: bitsOf(first), take, asks };
}

const isSuccessor = ({ from, to }: Link) =>
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
  leaves: readonly Leaf[],
  links: readonly Link[],
  facts: ReadonlyMap<Look, number>,
): Assertion[] {
  const next = new Map<number, number[]>();
  for (const [position, leaf] of leaves.entries())
    if (leaf.kind === 'look' || edgeOf(leaf) !== null) next.set(position, []);
  for (const { from, to } of links)
    for (const position of from) next.get(position)?.push(...to);
  return [...next].map(([position, to]) => {
    const leaf = leaves[position]!;
    return {
      position,
      edge: edgeOf(leaf),
      fact: leaf.kind === 'look' ? facts.get(leaf.look)! : 0,
      negative: leaf.kind === 'look' && leaf.negative,
      next: fewBits(to),
    };
  });
}

function edgeOf({ set }: Leaf): Assertion['edge'] {
  if (includes(set, TEXT_START)) return 'first';
  return includes(set, TEXT_END) ? 'last' : null;
}

import { includes, overlap, TEXT_END, TEXT_START } from './characters.ts';
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

const EMPTY: Part = { first: [], last: [], empty: true };

export type Automaton = ReturnType<typeof createAutomaton>;

/**
 * Glushkov 1961: a position per character of the pattern. `loop` reads `x{2,5}` as `x+`, which is
 * enough to detect ambiguity.
 *
 * @throws TooLarge
 */
export function createAutomaton(
  term: Term,
  counts: 'loop' | 'copy',
  backward = false,
) {
  const leaves: Leaf[] = [];
  const links: Link[] = [];
  let linked = 0;
  /** Whether the same characters match in two ways, as in `(a*)*`. */
  let ambiguous = false;

  function build(term: Term): Part {
    switch (term.kind) {
      case 'character':
        return position(backward ? mirrored(term) : term);
      case 'look':
        return position(term);
      case 'choice':
        return choice(term.options.map(build));
      case 'repeat':
        return repeat(term);
      case 'sequence': {
        const parts = backward ? term.parts.toReversed() : term.parts;
        return join(parts.map(build));
      }
      case 'back-reference':
        throw new Error('A back-reference has no automaton.');
    }
  }

  function position(leaf: Leaf): Part {
    if (leaves.length === MAX_POSITIONS) throw new TooLarge();
    const position = leaves.push(leaf) - 1;
    return { first: [position], last: [position], empty: false };
  }

  function choice(options: readonly Part[]): Part {
    const empty = options.filter((option) => option.empty).length;
    if (empty > 1) ambiguous = true;
    return {
      first: options.flatMap((option) => option.first),
      last: options.flatMap((option) => option.last),
      empty: empty > 0,
    };
  }

  function join(parts: readonly Part[]): Part {
    return parts.reduce((before, after) => {
      link(before.last, after.first);
      return {
        first: before.empty ? [...before.first, ...after.first] : before.first,
        last: after.empty ? [...before.last, ...after.last] : after.last,
        empty: before.empty && after.empty,
      };
    }, EMPTY);
  }

  function repeat({ body, least, most }: Term & { kind: 'repeat' }): Part {
    if (most === 0) return EMPTY;
    const count = leaves.length;
    const part = build(body);
    if (leaves.length === count) return EMPTY;
    const endless = most === Number.POSITIVE_INFINITY;
    if (counts === 'loop' || (least <= 1 && (most === 1 || endless)))
      return { ...loop(part, most), ...(least === 0 && { empty: true }) };
    const copies = [part];
    while (copies.length < (endless ? least : most)) copies.push(build(body));
    return endless
      ? join([...copies.slice(0, -1), loop(copies.at(-1)!, most)])
      : nest(copies, least);
  }

  function loop(part: Part, most: number): Part {
    if (most > 1) {
      if (part.empty) ambiguous = true;
      link(part.last, part.first);
    }
    return part;
  }

  /** `x{2,4}` as xx(x(x)?)?. */
  function nest(copies: readonly Part[], least: number): Part {
    const optional = copies.slice(least);
    let first: readonly number[] = [];
    for (const copy of optional.toReversed()) {
      link(copy.last, first);
      first = copy.empty ? [...copy.first, ...first] : copy.first;
    }
    const last = optional.flatMap((copy) => copy.last);
    return join([...copies.slice(0, least), { first, last, empty: true }]);
  }

  function link(from: readonly number[], to: readonly number[]): void {
    if (from.length === 0 || to.length === 0) return;
    linked += from.length + to.length;
    if (linked > MAX_LINKED) throw new TooLarge();
    links.push({ from, to });
  }

  const whole = build(term);
  return { leaves, links, whole, ambiguous };
}

/** If so, no matcher can backtrack far. */
export function isDeterministic(automaton: Automaton): boolean {
  const { leaves, links, whole, ambiguous } = automaton;
  const follow = leaves.map(() => new Set<number>());
  let compared = 0;
  for (const { from, to } of links) {
    compared += from.length * to.length;
    if (compared > MAX_COMPARED) return false;
    for (const a of from) {
      for (const b of to) {
        if (follow[a]!.has(b)) return false;
        follow[a]!.add(b);
      }
    }
  }
  const areDistinct = (positions: readonly number[]) =>
    positions.every((a, i) =>
      positions
        .slice(i + 1)
        .every((b) => !overlap(leaves[a]!.set, leaves[b]!.set)),
    );
  return (
    !ambiguous &&
    [whole.first, ...follow].every((next) => areDistinct([...next]))
  );
}

export const isAnchored = ({ leaves, whole }: Automaton): boolean =>
  !whole.empty &&
  whole.first.every((position) => includes(leaves[position]!.set, TEXT_START));

function mirrored(leaf: Leaf & { kind: 'character' }): Leaf {
  const symbol = leaf.set[0]?.[0];
  if (symbol !== TEXT_START && symbol !== TEXT_END) return leaf;
  const other = symbol === TEXT_START ? TEXT_END : TEXT_START;
  return { kind: 'character', set: [[other, other]] };
}

import { loop } from '../schema/pauses.ts';
import { work } from '../schema/run.ts';
import type { Automaton } from './automaton.ts';
import { includes, TEXT_END, TEXT_START } from './characters.ts';

interface State {
  readonly positions: readonly number[];
  readonly next: (State | undefined)[];
}

const FOUND: State = { positions: [], next: [] };

/** Above this number, the matcher drops all states, which costs time but no memory. */
const MAX_STATES = 1000;

/** In characters. */
const STEP = 16 * 1024;

interface Way {
  readonly state: State;
  readonly at: number;
}

/** Follows all paths at once, so that time is proportional to the length of the text. */
export function createMatcher({ sets, follow, whole }: Automaton) {
  const final = new Set(whole.last);
  const states = new Map<string, State>();
  const edges = new Set(sets.flatMap((set) => set.flatMap(([from, to]) => [from, to + 1])));
  const kinds = [...edges.add(0)].filter((edge) => edge >= 0).sort((a, b) => a - b);
  const ascii = Uint16Array.from({ length: 128 }, (_, character) => search(character));
  const start = whole.empty ? FOUND : step([], TEXT_START);

  function search(character: number): number {
    let low = 0;
    let high = kinds.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (kinds[middle]! <= character) low = middle;
      else high = middle;
    }
    return low;
  }

  function learn(state: State, kind: number, character: number): State {
    const next = step(state.positions, character);
    state.next[kind] = next;
    return next;
  }

  /** A match may begin at every character. */
  function step(positions: readonly number[], symbol: number): State {
    const reached = new Set<number>();
    for (const next of [whole.first, ...positions.map((position) => follow[position]!)]) {
      for (const position of next) {
        if (reached.has(position) || !includes(sets[position]!, symbol)) continue;
        if (final.has(position)) return FOUND;
        reached.add(position);
      }
    }
    return stateOf([...reached].sort((a, b) => a - b));
  }

  function stateOf(positions: readonly number[]): State {
    const key = positions.join();
    const known = states.get(key);
    if (known) return known;
    if (states.size === MAX_STATES) forget();
    const state: State = { positions, next: [] };
    states.set(key, state);
    return state;
  }

  function forget(): void {
    for (const state of states.values()) state.next.length = 0;
    states.clear();
  }

  /** From the character at `from`; ends behind the one before `to`. */
  function walk(before: State, text: string, from: number, to: number): Way {
    let state = before;
    let at = from;
    for (; at < to && state !== FOUND; at++) {
      const character = text.codePointAt(at)!;
      const kind = character < 128 ? ascii[character]! : search(character);
      state = state.next[kind] ?? learn(state, kind, character);
      if (character > 0xffff) at++;
    }
    return { state, at };
  }

  function followLong(text: string): State {
    const { way } = loop(
      sets,
      text,
      () => ({ next: 0, way: { state: start, at: 0 } }),
      Math.ceil(text.length / STEP),
      (i, found) => {
        found.way = walk(found.way.state, text, found.way.at, Math.min(text.length, (i + 1) * STEP));
        work.left -= STEP;
        return found.way.state !== FOUND;
      },
    );
    return way.state;
  }

  return {
    test(text: string): boolean {
      const state = text.length > STEP ? followLong(text) : walk(start, text, 0, text.length).state;
      return state === FOUND || step(state.positions, TEXT_END) === FOUND;
    },
  };
}

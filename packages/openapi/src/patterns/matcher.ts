import type { Automaton } from './automaton.ts';
import { includes, TEXT_END, TEXT_START } from './characters.ts';

interface State {
  readonly positions: readonly number[];
  readonly next: (State | undefined)[];
}

const FOUND: State = { positions: [], next: [] };

/** Above this number, the matcher drops all states, which costs time but no memory. */
const MAX_STATES = 1000;

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

  return {
    test(text: string): boolean {
      let state = start;
      for (let i = 0; i < text.length && state !== FOUND; i++) {
        const character = text.codePointAt(i)!;
        const kind = character < 128 ? ascii[character]! : search(character);
        state = state.next[kind] ?? learn(state, kind, character);
        if (character > 0xffff) i++;
      }
      return state === FOUND || step(state.positions, TEXT_END) === FOUND;
    },
  };
}

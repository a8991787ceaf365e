import type { Automaton } from './automaton.ts';
import { type CharacterSet, includes, TEXT_END, TEXT_START } from './characters.ts';

interface State {
  readonly positions: readonly number[];
  readonly next: (State | undefined)[];
}

const FOUND: State = { positions: [], next: [] };

/** Above this number, the matcher drops all states, which costs time but no memory. */
const MAX_STATES = 1000;

/** Follows all paths at once, so that time is proportional to the length of the text. */
export class Matcher {
  readonly #sets: readonly CharacterSet[];
  readonly #follow: readonly (readonly number[])[];
  readonly #first: readonly number[];
  readonly #final: ReadonlySet<number>;
  readonly #kinds: readonly number[];
  readonly #ascii: Uint16Array;
  readonly #states = new Map<string, State>();
  readonly #start: State;

  constructor({ sets, follow, whole }: Automaton) {
    this.#sets = sets;
    this.#follow = follow.map((next) => [...next]);
    this.#first = whole.first;
    this.#final = new Set(whole.last);
    const edges = new Set(sets.flatMap((set) => set.flatMap(([from, to]) => [from, to + 1])));
    this.#kinds = [...edges.add(0)].filter((edge) => edge >= 0).sort((a, b) => a - b);
    this.#ascii = Uint16Array.from({ length: 128 }, (_, character) => this.#search(character));
    this.#start = whole.empty ? FOUND : this.#step([], TEXT_START);
  }

  test(text: string): boolean {
    let state = this.#start;
    for (let i = 0; i < text.length && state !== FOUND; i++) {
      const character = text.codePointAt(i)!;
      const kind = character < 128 ? this.#ascii[character]! : this.#search(character);
      state = state.next[kind] ?? this.#learn(state, kind, character);
      if (character > 0xffff) i++;
    }
    return state === FOUND || this.#step(state.positions, TEXT_END) === FOUND;
  }

  #search(character: number): number {
    let low = 0;
    let high = this.#kinds.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#kinds[middle]! <= character) low = middle;
      else high = middle;
    }
    return low;
  }

  #learn(state: State, kind: number, character: number): State {
    const next = this.#step(state.positions, character);
    state.next[kind] = next;
    return next;
  }

  /** A match may begin at every character. */
  #step(positions: readonly number[], symbol: number): State {
    const reached = new Set<number>();
    for (const next of [this.#first, ...positions.map((position) => this.#follow[position]!)]) {
      for (const position of next) {
        if (reached.has(position) || !includes(this.#sets[position]!, symbol)) continue;
        if (this.#final.has(position)) return FOUND;
        reached.add(position);
      }
    }
    return this.#state([...reached].sort((a, b) => a - b));
  }

  #state(positions: readonly number[]): State {
    const key = positions.join();
    const known = this.#states.get(key);
    if (known) return known;
    if (this.#states.size === MAX_STATES) this.#forget();
    const state: State = { positions, next: [] };
    this.#states.set(key, state);
    return state;
  }

  #forget(): void {
    for (const state of this.#states.values()) state.next.length = 0;
    this.#states.clear();
  }
}

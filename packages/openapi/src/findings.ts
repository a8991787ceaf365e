import type { Places } from './document/places.ts';
import { formatProblem, type Problem } from './problems.ts';

/** A `null` node refuses the whole document. */
export interface Mistake {
  readonly problem: Problem;
  readonly node: object | null;
  readonly key: string | number | null;
}

/** Keeps equal findings at one place once. */
export class Findings {
  readonly #places: Places | null;
  readonly #mistakes = new Map<string, Mistake>();
  readonly #notes = new Map<string, Problem>();

  /** `null` for a document that was checked before: its findings are dropped. */
  constructor(places: Places | null) {
    this.#places = places;
  }

  problem(node: object, key: string | number | null, message: string): void {
    const problem = this.#places?.of(node, key, message);
    if (!problem) return;
    const text = formatProblem(problem);
    if (this.#mistakes.get(text)?.node !== null)
      this.#mistakes.set(text, { problem, node, key });
  }

  /** For mistakes in authentication or limits, which `onUnsupported` cannot tolerate. */
  refuse(node: object, key: string | number | null, message: string): void {
    const problem = this.#places?.of(node, key, message);
    if (problem) this.add(problem);
  }

  add(problem: Problem): void {
    this.#mistakes.set(formatProblem(problem), {
      problem,
      node: null,
      key: null,
    });
  }

  note(node: object, key: string | number | null, message: string): void {
    const note = this.#places?.of(node, key, message);
    if (note) this.#notes.set(formatProblem(note), note);
  }

  /** File, line and column, for a message about another place; empty for a document that was checked before. */
  placeOf(node: object, key: string | number | null): string {
    const problem = this.#places?.of(node, key, '');
    return problem ? `${problem.file}:${problem.place.split(' ')[0]}` : '';
  }

  get mistakes(): readonly Mistake[] {
    return [...this.#mistakes.values()];
  }

  get notes(): readonly Problem[] {
    return [...this.#notes.values()];
  }
}

export function byPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  const [lineA = 0, columnA = 0] = a.place.split(/[: ]/).map(Number);
  const [lineB = 0, columnB = 0] = b.place.split(/[: ]/).map(Number);
  return lineA - lineB || columnA - columnB;
}

import type { Places } from './document/places.ts';
import { ContractError, formatProblem, type Problem } from './problems.ts';

/** Collects findings while a contract is loaded. It keeps the same finding at the same place once. */
export class Findings {
  readonly #places: Places;
  readonly #problems = new Map<string, Problem>();
  readonly #notes = new Map<string, Problem>();

  constructor(places: Places) {
    this.#places = places;
  }

  /** A mistake in an object of the document, or in its member `key`. */
  problem(node: object, key: string | number | null, message: string): void {
    this.add(this.#places.of(node, key, message));
  }

  add(problem: Problem): void {
    this.#problems.set(formatProblem(problem), problem);
  }

  /** A part of the document at that place that the gateway does not enforce. */
  note(node: object, key: string | number | null, message: string): void {
    const note = this.#places.of(node, key, message);
    this.#notes.set(formatProblem(note), note);
  }

  get problems(): readonly Problem[] {
    return [...this.#problems.values()].sort(byPlace);
  }

  get notes(): readonly Problem[] {
    return [...this.#notes.values()].sort(byPlace);
  }

  /** @throws ContractError if there is any problem. */
  throwIfAny(): void {
    if (this.#problems.size > 0) throw new ContractError(this.problems);
  }
}

function byPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  const [lineA = 0, columnA = 0] = a.place.split(/[: ]/).map(Number);
  const [lineB = 0, columnB = 0] = b.place.split(/[: ]/).map(Number);
  return lineA - lineB || columnA - columnB;
}

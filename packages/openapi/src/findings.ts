import { Places } from './document/places.ts';
import { formatProblem, type Problem } from './problems.ts';

/** A mistake, and where it is: an object of the document, or its member `key`; `null` for one that refuses the whole document. */
export interface Mistake {
  readonly problem: Problem;
  readonly node: object | null;
  readonly key: string | number | null;
}

/** Collects findings while a contract is loaded. It keeps the same finding at the same place once. */
export class Findings {
  readonly #places: Places;
  readonly #mistakes = new Map<string, Mistake>();
  readonly #notes = new Map<string, Problem>();

  constructor(places: Places) {
    this.#places = places;
  }

  /** A mistake in an object of the document, or in its member `key`. */
  problem(node: object, key: string | number | null, message: string): void {
    const problem = this.#places.of(node, key, message);
    this.#mistakes.set(formatProblem(problem), { problem, node, key });
  }

  /** A mistake that no `onUnsupported` tolerates, because it decides which requests are let in, or how many. */
  refuse(node: object, key: string | number | null, message: string): void {
    this.add(this.#places.of(node, key, message));
  }

  /** A mistake in a file that cannot be read because of it. */
  add(problem: Problem): void {
    this.#mistakes.set(formatProblem(problem), { problem, node: null, key: null });
  }

  /** A part of the document at that place that is not enforced. */
  note(node: object, key: string | number | null, message: string): void {
    const note = this.#places.of(node, key, message);
    this.#notes.set(formatProblem(note), note);
  }

  get mistakes(): readonly Mistake[] {
    return [...this.#mistakes.values()];
  }

  get notes(): readonly Problem[] {
    return [...this.#notes.values()];
  }
}

/** Keeps no findings: for a document that has been checked, whose findings have been reported. */
export class NoFindings extends Findings {
  constructor() {
    super(new Places());
  }

  override problem(): void {}

  override refuse(): void {}

  override add(): void {}

  override note(): void {}
}

/** The order of the document. */
export function byPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  const [lineA = 0, columnA = 0] = a.place.split(/[: ]/).map(Number);
  const [lineB = 0, columnB = 0] = b.place.split(/[: ]/).map(Number);
  return lineA - lineB || columnA - columnB;
}

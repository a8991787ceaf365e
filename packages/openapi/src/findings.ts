import type { Places } from './document/places.ts';
import { formatProblem, type Problem } from './problems.ts';

/** A `null` node refuses the whole document. */
export interface Mistake {
  readonly problem: Problem;
  readonly node: object | null;
  readonly key: string | number | null;
}

export type Findings = ReturnType<typeof createFindings>;

/**
 * Keeps equal findings at one place once. Without places, for a document that was checked before,
 * it drops them.
 */
export function createFindings(places: Places | null) {
  const mistakes = new Map<string, Mistake>();
  const notes = new Map<string, Problem>();

  function add(problem: Problem): void {
    mistakes.set(formatProblem(problem), {
      problem,
      node: null,
      key: null,
    });
  }

  return {
    problem(node: object, key: string | number | null, message: string): void {
      const problem = places?.of(node, key, message);
      if (!problem) return;
      const text = formatProblem(problem);
      if (mistakes.get(text)?.node !== null)
        mistakes.set(text, { problem, node, key });
    },
    /** For mistakes in authentication or limits, which `onUnsupported` cannot tolerate. */
    refuse(node: object, key: string | number | null, message: string): void {
      const problem = places?.of(node, key, message);
      if (problem) add(problem);
    },
    add,
    note(node: object, key: string | number | null, message: string): void {
      const note = places?.of(node, key, message);
      if (note) notes.set(formatProblem(note), note);
    },
    /** File, line and column, for a message about another place; empty for a document that was checked before. */
    placeOf(node: object, key: string | number | null): string {
      const problem = places?.of(node, key, '');
      return problem ? `${problem.file}:${problem.place.split(' ')[0]}` : '';
    },
    get mistakes(): readonly Mistake[] {
      return [...mistakes.values()];
    },
    get notes(): readonly Problem[] {
      return [...notes.values()];
    },
  };
}

export function byPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  const [lineA = 0, columnA = 0] = a.place.split(/[: ]/).map(Number);
  const [lineB = 0, columnB = 0] = b.place.split(/[: ]/).map(Number);
  return lineA - lineB || columnA - columnB;
}

export interface Problem {
  /** As the caller or another file of the contract names it. */
  readonly file: string;
  /** `line:column pointer`, such as `12:5 /paths/~1pets/get`; empty for the file as a whole. */
  readonly place: string;
  readonly message: string;
}

export const formatProblem = ({ file, place, message }: Problem): string =>
  `${file}${place && `:${place}`}: ${message}`;

const MOST_EQUAL = 10;

export function formatProblems(
  problems: readonly Problem[],
  most = MOST_EQUAL,
): string[] {
  const counts = new Map<string, number>();
  for (const { message } of problems)
    counts.set(message, (counts.get(message) ?? 0) + 1);
  const seen = new Set<string>();
  return problems.flatMap((problem) => {
    const count = counts.get(problem.message)!;
    if (count <= most) return [formatProblem(problem)];
    if (seen.has(problem.message)) return [];
    seen.add(problem.message);
    return [`${formatProblem(problem)} (${count} times; this is the first)`];
  });
}

/** `problems` has every mistake in document order. */
export class ContractError extends Error {
  override name = 'ContractError';
  readonly problems: readonly Problem[];
  readonly notes: readonly Problem[];

  constructor(problems: readonly Problem[], notes: readonly Problem[] = []) {
    super(formatProblems(problems).join('\n'));
    this.problems = problems;
    this.notes = notes;
  }
}

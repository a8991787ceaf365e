/** A mistake in the contract, or a thing it says that is not enforced. */
export interface Problem {
  /** The file, as it was given or as the given file refers to it. */
  readonly file: string;
  /** `line:column pointer`, such as `12:5 /paths/~1pets/get`; empty when it is the file as a whole. */
  readonly place: string;
  readonly message: string;
}

/** `file:line:column pointer: message`, which editors turn into a link. */
export const formatProblem = ({ file, place, message }: Problem): string =>
  `${file}${place && `:${place}`}: ${message}`;

/** The contract cannot be used. `problems` has every mistake that was found, in the order of the document. */
export class ContractError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.name = 'ContractError';
    this.problems = problems;
  }
}

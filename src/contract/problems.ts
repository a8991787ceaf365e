import { ExpectedError } from '../common/expected-error.ts';

/** A mistake in the contract, or a part of it that the gateway does not enforce. */
export interface Problem {
  /** The path of the file, as the caller or another file of the contract names it. */
  readonly file: string;
  /** `line:column pointer`, such as `12:5 /paths/~1pets/get`; empty if it is the file as a whole. */
  readonly place: string;
  readonly message: string;
}

/** `file:line:column pointer: message`, which editors turn into a link. */
export const formatProblem = ({ file, place, message }: Problem): string =>
  `${file}${place && `:${place}`}: ${message}`;

/** The contract cannot be used. `problems` has every mistake, in the order of the document. */
export class ContractError extends ExpectedError {
  override name = 'ContractError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.problems = problems;
  }
}

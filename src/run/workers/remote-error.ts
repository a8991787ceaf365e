import { ExpectedError, isExpected } from '../../common/expected-error.ts';

/** A reason in one sentence. */
export class WorkersError extends ExpectedError {
  override name = 'WorkersError';
}

export interface RemoteErrorParts {
  readonly message: string;
  readonly stack: string;
  /** Otherwise it is a bug, and its stack matters. */
  readonly expected: boolean;
}

export class RemoteError extends Error {
  override name = 'RemoteError';
  readonly expected: boolean;

  constructor({ message, stack, expected }: RemoteErrorParts) {
    super(message);
    this.stack = stack;
    this.expected = expected;
  }
}

export function remoteErrorParts(error: unknown): RemoteErrorParts {
  if (!(error instanceof Error)) return { message: String(error), stack: String(error), expected: false };
  const { message, stack = message } = error;
  return { message, stack, expected: isExpected(error) };
}

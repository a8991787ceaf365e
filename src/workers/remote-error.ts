import { ListenError } from '../common/listen.ts';
import { ContractError } from '../contract/contract.ts';
import { RedisError } from '../state/redis/client.ts';

/** The workers cannot carry requests; the message says why in one sentence. */
export class WorkersError extends Error {
  override name = 'WorkersError';
}

/** The parts of an error that one process sends to another. */
export interface Carried {
  readonly message: string;
  readonly stack: string;
  /** The message tells the operator everything. Otherwise the error is a bug, and its stack matters. */
  readonly expected: boolean;
}

/** An error that another process threw. */
export class RemoteError extends Error {
  override name = 'RemoteError';
  readonly expected: boolean;

  constructor({ message, stack, expected }: Carried) {
    super(message);
    this.stack = stack;
    this.expected = expected;
  }
}

const EXPECTED = [ListenError, RedisError, ContractError, WorkersError];

export function carried(error: unknown): Carried {
  if (!(error instanceof Error)) return { message: String(error), stack: String(error), expected: false };
  const expected = EXPECTED.some((kind) => error instanceof kind);
  return { message: error.message, stack: error.stack ?? error.message, expected };
}

export function restored(carried: Carried): RemoteError {
  return new RemoteError(carried);
}

import { ExpectedError } from '../../common/expected-error.ts';

/** Redis cannot be used as it is set up. The message says in one sentence what to change. */
export class RedisError extends ExpectedError {
  override name = 'RedisError';
  /** Redis does not answer, or not now; otherwise it refuses, and will until somebody changes something. */
  readonly isAway: boolean;

  constructor(message: string, { isAway = false, ...options }: ErrorOptions & { readonly isAway?: boolean } = {}) {
    super(message, options);
    this.isAway = isAway;
  }
}

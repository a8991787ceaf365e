import { ExpectedError } from '../../common/expected-error.ts';

/** The message describes in one sentence what to change. */
export class RedisError extends ExpectedError {
  override name = 'RedisError';
  /** Whether Redis does not respond, or cannot serve yet. If false, its configuration must change. */
  readonly isAway: boolean;

  constructor(message: string, { isAway = false, ...options }: ErrorOptions & { readonly isAway?: boolean } = {}) {
    super(message, options);
    this.isAway = isAway;
  }
}

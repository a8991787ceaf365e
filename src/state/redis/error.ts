import { ExpectedError } from '../../common/expected-error.ts';

/** The message describes in one sentence what to change. */
export class RedisError extends ExpectedError {
  override name = 'RedisError';
  /** Whether Redis does not respond, or cannot serve yet. If false, its configuration must change. */
  readonly isUnreachable: boolean;

  constructor(
    message: string,
    { isUnreachable = false, ...options }: ErrorOptions & { readonly isUnreachable?: boolean } = {},
  ) {
    super(message, options);
    this.isUnreachable = isUnreachable;
  }
}

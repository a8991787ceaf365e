export type ClientFailure =
  | 'unreachable'
  | 'too_slow'
  | 'broken'
  /** The request's own body failed; see `cause`. */
  | 'body'
  /** Other requests waited for the connection. */
  | 'slow_reader';

export class ClientError extends Error {
  override name = 'ClientError';
  readonly failure: ClientFailure;
  /**
   * A reused connection closed before the first byte of a response. Only such a request may be
   * retried.
   */
  readonly diedIdle: boolean;

  constructor(
    failure: ClientFailure,
    message: string,
    { cause, diedIdle = false }: { cause?: unknown; diedIdle?: boolean } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.failure = failure;
    this.diedIdle = diedIdle;
  }
}

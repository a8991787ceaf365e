export type ClientFailure =
  | 'unreachable'
  | 'too_slow'
  /** The server closed the connection or sent an invalid response. */
  | 'broken'
  /** The request's own body failed; see `cause`. */
  | 'body'
  /** The receiver read too slowly while other requests waited for the connection. */
  | 'slow_reader';

export class ClientError extends Error {
  override name = 'ClientError';
  readonly failure: ClientFailure;
  /**
   * A reused connection closed before the first byte of a response, most likely as idle. Only such a request may be
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

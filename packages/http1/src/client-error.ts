/** Why a question got no answer, or not the whole of it. */
export type ClientFailure =
  /** There was no connection. */
  | 'unreachable'
  /** The other side was silent for too long. */
  | 'too_slow'
  /** It ended the connection, or sent what is no answer. */
  | 'broken'
  /** The request's own body failed on the way; `cause` says how. */
  | 'body'
  /** Its reader took too little of it while others waited for the connection. */
  | 'slow_reader';

export class ClientError extends Error {
  override name = 'ClientError';
  readonly failure: ClientFailure;
  /**
   * The connection had served before and ended before one byte of an answer came: most likely it was about to be closed as
   * idle when the request left. Only such a request may be sent again.
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

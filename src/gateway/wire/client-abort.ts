/**
 * The client disconnected, or read so slowly that the gateway closed the connection. Not a fault; no response can be
 * sent.
 */
export class ClientAbort extends Error {
  override name = 'CallerLeft';
  readonly code: 'client_closed_request' | 'slow_reader';

  constructor(
    message?: string,
    { code = 'client_closed_request', cause }: { code?: ClientAbort['code']; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
  }
}

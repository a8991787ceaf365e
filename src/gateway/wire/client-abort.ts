/** Also if the client read too slowly. Not a fault; no response can be sent. */
export class ClientAbort extends Error {
  override name = 'ClientAbort';
  readonly code: 'client_closed_request' | 'slow_reader';

  constructor(
    message?: string,
    {
      code = 'client_closed_request',
      cause,
    }: { code?: ClientAbort['code']; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
  }
}

/**
 * The caller closed its connection before the answer was complete, or read it so slowly that the gateway closed it. This is no fault, and no
 * answer can be sent.
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

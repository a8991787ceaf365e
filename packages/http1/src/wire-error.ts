/** What is wrong with bytes that claim to be HTTP/1.1, or with their pace. */
export type WireFault =
  /** Not one unambiguous message. */
  | 'malformed'
  /** A request line without an end within the bytes of a head. */
  | 'target_too_long'
  | 'head_too_large'
  /** More extensions of chunks than any use has. */
  | 'extensions_too_large'
  /** Well-formed, but another version, a method nobody knows, or a transfer coding other than chunked. */
  | 'version'
  | 'method'
  | 'coding'
  /** The message, or the next part of it, came too late. */
  | 'too_late'
  /** The other side ended the connection inside a message. */
  | 'cut_off';

/**
 * A message that must not be acted on. Its text says what is wrong in words for the sender, and holds nothing of what was sent. It has
 * no stack: recording one takes as long as reading the message, and senders of nonsense are many.
 */
export class WireError extends Error {
  override name = 'WireError';
  readonly fault: WireFault;

  constructor(fault: WireFault, message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.fault = fault;
  }
}

export function malformed(message: string): WireError {
  return new WireError('malformed', message);
}

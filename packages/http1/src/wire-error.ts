export type WireFault =
  /** Not one unambiguous message. */
  | 'malformed'
  /** A request line longer than the limit of a head. */
  | 'target_too_long'
  | 'head_too_large'
  /** More chunk extensions than any use needs. */
  | 'extensions_too_large'
  /** Well-formed, but another version, an unknown method, or a transfer coding other than chunked. */
  | 'version'
  | 'method'
  | 'coding'
  | 'too_late'
  | 'cut_off';

/**
 * Its text describes the fault to the sender and quotes nothing. It has no stack: recording one takes as long as
 * reading the message, and invalid input can be frequent.
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

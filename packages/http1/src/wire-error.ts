export type WireFault =
  | 'malformed'
  | 'target_too_long'
  | 'head_too_large'
  | 'extensions_too_large'
  /** Another version, an unknown method, or a transfer coding other than chunked. */
  | 'version'
  | 'method'
  | 'coding'
  | 'too_late'
  | 'cut_off';

/**
 * Quotes nothing of the input. No stack: recording one takes as long as reading the message, and
 * invalid input can be frequent.
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

import type { Code } from './catalogue.ts';

/**
 * A backend or the state is unavailable or misconfigured; the request is not at fault. `cause` goes
 * to the log, never to a client. Anything else that is thrown, except a Refusal, is a bug.
 */
export class Outage extends Error {
  override name = 'Outage';
  readonly code: Code;

  constructor(code: Code, options: { cause?: unknown } = {}) {
    super(code, options);
    this.code = code;
  }
}

/** The result of `work`, or `otherwise` during an outage. */
export async function unlessOutage<T, O>(
  work: () => T | Promise<T>,
  otherwise: O,
): Promise<T | O> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Outage)) throw error;
    return otherwise;
  }
}

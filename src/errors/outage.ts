import type { Code } from './catalogue.ts';

/**
 * A backend or the state is unavailable or misconfigured. The request is not at fault; a policy or the code decides the response.
 * `cause` goes to the log, never to a client. Anything else that is thrown, except a Refusal, is a bug.
 */
export class Outage extends Error {
  override name = 'Outage';
  readonly code: Code;
  /** More headers of the response, flat: name, value, … */
  readonly headers: readonly string[];

  constructor(code: Code, { cause, headers = [] }: { cause?: unknown; headers?: readonly string[] } = {}) {
    super(code, { cause });
    this.code = code;
    this.headers = headers;
  }
}

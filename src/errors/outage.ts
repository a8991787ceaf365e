import type { Code } from './refusals.ts';

/**
 * A part of the installation is away or unfit. The request is not at fault; a policy or the code decides what callers see.
 * `cause` goes to the log, never to a caller. Anything thrown that is neither an Outage nor a Refusal is a bug.
 */
export class Outage extends Error {
  override name = 'Outage';
  readonly code: Code;
  /** More headers of the answer, flat: name, value, … */
  readonly headers: readonly string[];

  constructor(code: Code, { cause, headers = [] }: { cause?: unknown; headers?: readonly string[] } = {}) {
    super(code, { cause });
    this.code = code;
    this.headers = headers;
  }
}

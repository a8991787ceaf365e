import type { ClientError } from '@storegate/http1';
import { tlsTrouble } from '@storegate/http1/tls';

export type Failure = 'unreachable' | 'untrusted' | 'broken' | 'hanging' | 'statuses';

/** `null`: the client caused the error. */
export function failureOf({ failure, cause }: ClientError): Failure | null {
  if (failure === 'body' || failure === 'slow_reader') return null;
  if (tlsTrouble(cause) !== null) return 'untrusted';
  return failure === 'too_slow' ? 'hanging' : failure;
}

/** Timeouts and statuses are counted separately. */
export class FailureRow {
  #failures = 0;
  #timeouts = 0;
  #statuses = 0;

  count(failure: Failure): number {
    if (failure === 'statuses') return ++this.#statuses;
    return failure === 'hanging' ? ++this.#timeouts : ++this.#failures;
  }

  end(): void {
    this.#failures = 0;
    this.#timeouts = 0;
    this.#statuses = 0;
  }
}

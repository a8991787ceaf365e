import type { ClientError } from '@storegate/http1';
import { tlsTrouble } from '@storegate/http1/tls';

/** What went wrong with a request: no connection; none by TLS, for want of a good certificate; no usable answer; none in time; or a status that counts as a failure. */
export type Failure = 'unreachable' | 'untrusted' | 'broken' | 'hanging' | 'statuses';

/** What an error says of the store; `null`: nothing, because the caller is at fault. */
export function failureOf({ failure, cause }: ClientError): Failure | null {
  if (failure === 'body' || failure === 'slow_reader') return null;
  if (tlsTrouble(cause) !== null) return 'untrusted';
  return failure === 'too_slow' ? 'hanging' : failure;
}

/** Counts failures of a store since its last good answer. Timeouts and statuses have rows of their own. */
export class FailureRow {
  #failures = 0;
  #timeouts = 0;
  #statuses = 0;

  /** Returns how many there are now in the row of this failure. */
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

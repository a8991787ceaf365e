import type { ClientError } from '@storegate/http1';
import type { RetriesSettings } from '../../config/config.ts';
import { createLastSeconds } from './last-seconds.ts';

/** RFC 9110 section 9.2.2. */
const IDEMPOTENT: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
  'OPTIONS',
  'TRACE',
]);

export const isIdempotent = (method: string): boolean => IDEMPOTENT.has(method);

/** Per second. */
const ALWAYS = 10;

/** Retries must not keep overloaded backends down. */
export class Retries {
  settings: RetriesSettings;
  readonly #last = createLastSeconds();

  constructor(settings: RetriesSettings) {
    this.settings = settings;
  }

  count(now: number): void {
    this.#last.add(now);
  }

  allows(
    { failure }: Pick<ClientError, 'failure'>,
    method: string,
    times: number,
  ): boolean {
    const { budget, maxRetries, on, timeouts } = this.settings;
    if (budget === 0 || times >= maxRetries) return false;
    if (failure === 'unreachable') return on.includes('connect');
    if (failure === 'broken')
      return on.includes('reset') && isIdempotent(method);
    return failure === 'too_slow' && timeouts && isIdempotent(method);
  }

  /** `false`: the budget is used up. */
  take(now: number): boolean {
    const { budget } = this.settings;
    if (budget === 0) return false;
    const { all, some, now: inSecond } = this.#last.counts(now);
    if (inSecond >= ALWAYS && some + 1 > budget * all) return false;
    this.#last.mark(now);
    return true;
  }
}

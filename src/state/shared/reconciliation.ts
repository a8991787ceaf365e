import { DelayedRun } from '../../common/delayed-run.ts';
import type { CircuitBreakers } from './circuit-breakers.ts';
import type { PendingReconciliation } from './last-known-counters.ts';
import type { LocalCounters } from './local-counters.ts';
import type { RemoteState } from './remote-state.ts';

/** Requests have priority. */
const MAX_IN_FLIGHT = 50;
/** Milliseconds until a rejected reconciliation is sent again. */
const RETRY_DELAY = 1_000;

interface ReconcilerOptions {
  readonly remote: Pick<RemoteState, 'charge'>;
  readonly local: LocalCounters;
  readonly breakers: CircuitBreakers;
  readonly changed: (subject: string) => void;
}

/**
 * Adds local counts to Redis. A reconciliation without a response is sent again under its
 * number before the subject's next one. Redis adds each number once.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  /** In sending order. */
  readonly #due = new Map<string, PendingReconciliation[]>();
  readonly #sending = new Map<string, Promise<boolean>>();
  readonly #next = new DelayedRun(() => void this.sendAll(), RETRY_DELAY);

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /** Includes those that still grow. */
  get size(): number {
    return this.#due.size + this.#options.local.size;
  }

  /** Adds reconciliations of an earlier process or of earlier limits. */
  add(subject: string, dues: readonly PendingReconciliation[]): void {
    if (dues.length > 0)
      this.#due.set(subject, [...(this.#due.get(subject) ?? []), ...dues]);
  }

  /** Includes current counts. */
  dues(subject: string): readonly PendingReconciliation[] {
    const own = this.#options.local.due(subject);
    return [...(this.#due.get(subject) ?? []), ...(own ? [own] : [])];
  }

  subjects(): Iterable<string> {
    return this.#due.keys();
  }

  has(subject: string): boolean {
    return (
      this.#options.local.has(subject) ||
      (this.#due.size > 0 && this.#due.has(subject))
    );
  }

  /** Returns whether Redis accepted any. */
  sendOne(subject: string): Promise<boolean> {
    return this.#sending.get(subject) ?? this.#send(subject);
  }

  /** Sends everything except to unreachable shards, and retries the rest later. */
  async sendAll(): Promise<void> {
    const subjects = [
      ...new Set([...this.#due.keys(), ...this.#options.local.subjects()]),
    ];
    for (let at = 0; at < subjects.length; at += MAX_IN_FLIGHT) {
      await Promise.all(
        subjects.slice(at, at + MAX_IN_FLIGHT).map(async (subject) => {
          while (
            !this.#options.breakers.of(subject).isOpen &&
            (await this.sendOne(subject))
          );
        }),
      );
    }
    const isLeft = (subject: string) =>
      this.has(subject) && !this.#options.breakers.of(subject).isOpen;
    if (subjects.some(isLeft)) this.sendLater();
  }

  /** Sends everything in a second, for subjects that may never send another request. */
  sendLater(): void {
    this.#next.plan();
  }

  async close(): Promise<void> {
    this.#next.close();
    await this.sendAll();
  }

  #send(subject: string): Promise<boolean> {
    const taken = this.#due.has(subject)
      ? null
      : this.#options.local.take(subject);
    if (taken) this.#due.set(subject, [taken]);
    const due = this.#due.get(subject)?.[0];
    if (!due) return Promise.resolve(false);
    const breaker = this.#options.breakers.of(subject);
    const sending = this.#options.remote
      .charge(subject, due.limits, due.reconciliation)
      .then(
        () => {
          this.#sending.delete(subject);
          const left = this.#due.get(subject)!.slice(1);
          if (left.length === 0) this.#due.delete(subject);
          else this.#due.set(subject, left);
          this.#options.changed(subject);
          return true;
        },
        (error) => {
          this.#sending.delete(subject);
          this.#options.breakers.recordFailure(breaker, error);
          return false;
        },
      );
    this.#sending.set(subject, sending);
    return sending;
  }
}

import type { SharedBackend } from './backend.ts';
import type { CircuitBreakers } from './circuit-breakers.ts';
import type { PendingReconciliation } from './last-known-counters/entries.ts';
import type { LocalCounters } from './local-counters.ts';

/** Reconciliations on their way at a time: requests go first. */
const MAX_IN_FLIGHT = 50;
/** Milliseconds until a backend that is up is sent what it did not take. */
const RETRY_DELAY = 1_000;

export interface ReconcilerOptions {
  readonly backend: Pick<SharedBackend, 'charge'>;
  readonly local: LocalCounters;
  readonly breakers: CircuitBreakers;
  /** Called when the backend has taken something. */
  readonly changed?: (subject: string) => void;
}

/**
 * Adds in the backend what was counted here. A reconciliation whose answer was lost is sent again under its own number
 * until the backend has it; only then follows the subject's next one. The backend adds each number once.
 */
export class Reconciler {
  readonly #backend: ReconcilerOptions['backend'];
  readonly #local: LocalCounters;
  readonly #breakers: CircuitBreakers;
  readonly #changed: (subject: string) => void;
  /** In the order in which they are sent. */
  readonly #due = new Map<string, PendingReconciliation[]>();
  readonly #sending = new Map<string, Promise<boolean>>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ backend, local, breakers, changed = () => {} }: ReconcilerOptions) {
    this.#changed = changed;
    this.#backend = backend;
    this.#local = local;
    this.#breakers = breakers;
  }

  /** Reconciliations that the backend does not have: those that were sent, and those that still grow here. */
  get size(): number {
    return this.#due.size + this.#local.size;
  }

  /** Takes over what is no longer counted here and may not have been sent: by an earlier process, or under earlier limits. */
  add(subject: string, dues: readonly PendingReconciliation[]): void {
    if (dues.length > 0) this.#due.set(subject, [...(this.#due.get(subject) ?? []), ...dues]);
  }

  /** What the backend may not have yet, also of what is counted still. */
  dues(subject: string): readonly PendingReconciliation[] {
    const own = this.#local.due(subject);
    return [...(this.#due.get(subject) ?? []), ...(own ? [own] : [])];
  }

  subjects(): Iterable<string> {
    return this.#due.keys();
  }

  /** Whether anything is to be sent for the subject. */
  has(subject: string): boolean {
    return this.#local.has(subject) || (this.#due.size > 0 && this.#due.has(subject));
  }

  /** Sends what is due for a subject, unless that is under way. Answers whether the backend has taken something. */
  sendOne(subject: string): Promise<boolean> {
    return this.#sending.get(subject) ?? this.#send(subject);
  }

  /** Sends everything, some at a time; leaves out shards that are away. What is not taken is sent again later. */
  async sendAll(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const subjects = [...new Set([...this.#due.keys(), ...this.#local.subjects()])];
    for (let at = 0; at < subjects.length; at += MAX_IN_FLIGHT) {
      await Promise.all(
        subjects.slice(at, at + MAX_IN_FLIGHT).map(async (subject) => {
          while (!this.#breakers.of(subject).isOpen && (await this.sendOne(subject)));
        }),
      );
    }
    const isLeft = (subject: string) => this.has(subject) && !this.#breakers.of(subject).isOpen;
    if (subjects.some(isLeft)) this.sendLater();
  }

  /** Sends everything in a second, for subjects of which nothing may be heard again. */
  sendLater(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => void this.sendAll(), RETRY_DELAY).unref();
  }

  /** Sends everything for the last time. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.sendAll();
  }

  #send(subject: string): Promise<boolean> {
    const taken = this.#due.has(subject) ? null : this.#local.take(subject);
    if (taken) this.#due.set(subject, [taken]);
    const due = this.#due.get(subject)?.[0];
    if (!due) return Promise.resolve(false);
    const breaker = this.#breakers.of(subject);
    const sending = this.#backend.charge(subject, due.limits, due.reconciliation).then(
      () => {
        this.#sending.delete(subject);
        this.#taken(subject);
        return true;
      },
      (error) => {
        this.#sending.delete(subject);
        this.#breakers.recordFailure(breaker, error);
        return false;
      },
    );
    this.#sending.set(subject, sending);
    return sending;
  }

  #taken(subject: string): void {
    const left = this.#due.get(subject)!.slice(1);
    if (left.length === 0) this.#due.delete(subject);
    else this.#due.set(subject, left);
    this.#changed(subject);
  }
}

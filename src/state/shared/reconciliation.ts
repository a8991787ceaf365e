import type { Limits } from '../../limits/limits.ts';
import type { Reconciliation, SharedBackend } from './backend.ts';
import type { CircuitBreakers } from './circuit-breakers.ts';
import type { LocalCounts } from './local-counts.ts';

/** Reconciliations on their way at a time: requests go first. */
const AT_ONCE = 50;

export interface ReconcilerOptions {
  readonly backend: Pick<SharedBackend, 'charge'>;
  readonly local: LocalCounts;
  readonly breakers: CircuitBreakers;
}

/**
 * Adds in the backend what was counted here. A reconciliation whose answer was lost is sent again under its own number
 * until the backend has it; only then follows the subject's next one. The backend adds each number once.
 */
export class Reconciler {
  readonly #backend: ReconcilerOptions['backend'];
  readonly #local: LocalCounts;
  readonly #breakers: CircuitBreakers;
  readonly #due = new Map<string, { limits: Limits; reconciliation: Reconciliation }>();
  readonly #sending = new Map<string, Promise<boolean>>();

  constructor({ backend, local, breakers }: ReconcilerOptions) {
    this.#backend = backend;
    this.#local = local;
    this.#breakers = breakers;
  }

  /** Reconciliations that the backend does not have: those that were sent, and those that still grow here. */
  get size(): number {
    return this.#due.size + this.#local.size;
  }

  /** Sends what is due for a subject, unless that is under way. Answers whether the backend has taken something. */
  one(subject: string): Promise<boolean> {
    return this.#sending.get(subject) ?? this.#send(subject);
  }

  /** Sends everything, some at a time; leaves out shards that are away. */
  async all(): Promise<void> {
    const subjects = [...new Set([...this.#due.keys(), ...this.#local.subjects()])];
    for (let at = 0; at < subjects.length; at += AT_ONCE) {
      await Promise.all(
        subjects.slice(at, at + AT_ONCE).map(async (subject) => {
          while (!this.#breakers.of(subject).isOpen && (await this.one(subject)));
        }),
      );
    }
  }

  #send(subject: string): Promise<boolean> {
    const due = this.#due.get(subject) ?? this.#local.take(subject);
    if (!due) return Promise.resolve(false);
    this.#due.set(subject, due);
    const breaker = this.#breakers.of(subject);
    const sending = this.#backend.charge(subject, due.limits, due.reconciliation).then(
      () => {
        this.#sending.delete(subject);
        this.#due.delete(subject);
        return true;
      },
      (error) => {
        this.#sending.delete(subject);
        this.#breakers.failed(breaker, error);
        return false;
      },
    );
    this.#sending.set(subject, sending);
    return sending;
  }
}

import type { Limits } from '../../limits/limits.ts';
import type { Reconciliation, RedisState } from '../redis/counters.ts';
import type { CircuitBreakers } from './circuit-breakers.ts';
import type { LocalCounts } from './local-counts.ts';

/** Sums on their way at a time: requests go before them. */
const AT_ONCE = 50;

/**
 * Adds in Redis what was counted here. A sum whose answer was lost is sent again under its own number until Redis has
 * it, and only then the subject's next one; Redis adds each number once.
 */
export class Reconciler {
  readonly #redis: RedisState;
  readonly #local: LocalCounts;
  readonly #breakers: CircuitBreakers;
  readonly #due = new Map<string, { limits: Limits; reconciliation: Reconciliation }>();
  readonly #sending = new Map<string, Promise<boolean>>();

  constructor({ redis, local, breakers }: { redis: RedisState; local: LocalCounts; breakers: CircuitBreakers }) {
    this.#redis = redis;
    this.#local = local;
    this.#breakers = breakers;
  }

  /** Subjects whose sums Redis does not have. */
  get size(): number {
    return this.#due.size + this.#local.size;
  }

  /** Sends what is due for a subject, unless that is under way. Answers whether Redis has it. */
  one(subject: string): Promise<boolean> {
    const sending = this.#sending.get(subject) ?? this.#send(subject);
    return sending;
  }

  /** Sends everything, some at a time, until done or Redis is away again. */
  async all(): Promise<void> {
    const subjects = [...new Set([...this.#due.keys(), ...this.#local.subjects()])];
    for (let at = 0; at < subjects.length; at += AT_ONCE) {
      await Promise.all(
        subjects.slice(at, at + AT_ONCE).map((subject) => this.#breakers.of(subject).isOpen || this.one(subject)),
      );
    }
  }

  #send(subject: string): Promise<boolean> {
    const due = this.#due.get(subject) ?? this.#local.take(subject);
    if (!due) return Promise.resolve(true);
    this.#due.set(subject, due);
    const sending = this.#redis.charge(subject, due.limits, due.reconciliation).then(
      () => {
        this.#due.delete(subject);
        this.#sending.delete(subject);
        return true;
      },
      (error) => {
        this.#sending.delete(subject);
        this.#breakers.of(subject).miss(error.cause);
        return false;
      },
    );
    this.#sending.set(subject, sending);
    return sending;
  }
}

import { notFuture } from '../common/time.ts';
import { isSameCounter } from '../limits/kinds.ts';
import type { Window } from '../limits/limits.ts';
import type { Plans } from '../limits/plans.ts';

type Counter = Pick<Window, 'kind' | 'span'>;

export class CountedSince {
  readonly #clock: () => number;
  readonly #begun = new Map<string, number>();
  #plans: Plans['plans'];

  constructor({ plans }: Plans, clock: () => number) {
    this.#plans = plans;
    this.#clock = clock;
  }

  use({ plans }: Plans): void {
    const now = this.#clock();
    for (const { name, count, windows } of plans.values()) {
      const before = this.#plans.get(name);
      for (const window of windows ?? []) {
        const isKnown =
          before?.count === count && before.windows?.some((one) => isSameCounter(one, window));
        if (!isKnown) this.#begun.set(nameOf(name, window), now);
      }
    }
    this.#plans = plans;
  }

  /**
   * Unix milliseconds; 0: since this gateway started. An unknown window counts from now at best.
   */
  of(plan: string, window: Counter): number {
    const has = this.#plans
      .get(plan)
      ?.windows?.some(({ kind, span }) => kind === window.kind && span === window.span);
    if (!has) return this.#clock();
    const name = nameOf(plan, window);
    const begun = notFuture(this.#begun.get(name) ?? 0, this.#clock());
    if (begun > 0) this.#begun.set(name, begun);
    return begun;
  }
}

const nameOf = (plan: string, { kind, span }: Counter) => `${kind} ${span} ${plan}`;

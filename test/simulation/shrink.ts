import type { Act, Plan } from './acts.ts';
import { type Failure, play } from './play.ts';

/** Runs that making one failure smaller may take. */
const MOST_RUNS = 120;

export interface Shrunk {
  readonly plan: Plan;
  readonly failure: Failure;
}

/** Leaves out acts, in ever smaller parts, while the same promise is broken. */
export async function shrink(plan: Plan, failure: Failure, mostRuns = MOST_RUNS): Promise<Shrunk> {
  let smallest: Shrunk = {
    plan: { ...plan, acts: plan.acts.filter(({ at }) => at <= failure.at) },
    failure,
  };
  let runs = 0;

  async function breaks(acts: readonly Act[]): Promise<boolean> {
    runs++;
    const smaller = { ...plan, acts };
    const { failure: other } = await play(smaller);
    if (other?.invariant !== failure.invariant) return false;
    smallest = { plan: smaller, failure: other };
    return true;
  }

  for (
    let size = Math.ceil(plan.acts.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < smallest.plan.acts.length && runs < mostRuns; ) {
      const { acts } = smallest.plan;
      const isSmaller = await breaks([...acts.slice(0, from), ...acts.slice(from + size)]);
      if (!isSmaller) from += size;
    }
  }
  return smallest;
}

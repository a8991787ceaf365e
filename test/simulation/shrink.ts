import type { Action, Plan } from './actions.ts';
import { type Failure, play } from './play.ts';

/** Runs that making one failure smaller may take. */
const MOST_RUNS = 120;

export interface Shrunk {
  readonly plan: Plan;
  readonly failure: Failure;
}

/** Leaves out actions, in ever smaller parts, while the same promise is broken. */
export async function shrink(plan: Plan, failure: Failure, mostRuns = MOST_RUNS): Promise<Shrunk> {
  let smallest: Shrunk = {
    plan: { ...plan, actions: plan.actions.filter(({ at }) => at <= failure.at) },
    failure,
  };
  let runs = 0;

  async function breaks(actions: readonly Action[]): Promise<boolean> {
    runs++;
    const smaller = { ...plan, actions };
    const { failure: other } = await play(smaller);
    if (other?.invariant !== failure.invariant) return false;
    smallest = { plan: smaller, failure: other };
    return true;
  }

  for (
    let size = Math.ceil(plan.actions.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < smallest.plan.actions.length && runs < mostRuns; ) {
      const { actions } = smallest.plan;
      const isSmaller = await breaks([...actions.slice(0, from), ...actions.slice(from + size)]);
      if (!isSmaller) from += size;
    }
  }
  return smallest;
}

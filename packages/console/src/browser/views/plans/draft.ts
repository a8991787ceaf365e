import type { Plan, PlanDraft, PlanSimulation } from '@storegate/admin-api';

/** A change that was tried, and what it would do. */
export interface SimulatedDraft {
  readonly draft: PlanDraft;
  readonly trial: PlanSimulation;
}

/** The name of a window stands behind the number: `10/10s:sliding` is `10s`. */
const namesIn = (limits: string) =>
  limits
    .split(',')
    .map((limit) => limit.split('/')[1]?.split(/[:+]/)[0]?.trim() ?? '');

/**
 * The draft that gives the plan the limits of the form and no others. Empty: no limit of its own.
 */
export function draftOf(
  plan: Pick<Plan, 'limits'> | null,
  form: FormData,
): PlanDraft {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const limits = text('limits');
  const rest = {
    count: text('count') as Plan['count'],
    concurrency: Number(text('concurrency')) || null,
    workers: Number(text('workers')) || null,
  };
  if (limits === '') return { limits: null, ...rest };
  // Dropped windows keep nothing that the form does not name.
  return plan?.limits
    ? { limits, drop: namesIn(plan.limits), ...rest }
    : { limits, ...rest };
}

import type { Plan, PlanDraft, PlanSimulation } from '../../../admin-api.ts';

/** A change that was tried, and what it would do. */
export interface SimulatedDraft {
  readonly draft: PlanDraft;
  readonly trial: PlanSimulation;
}

/** The name of a window stands behind the number: `10/10s:sliding` is `10s`. */
const namesIn = (limits: string) => limits.split(',').map((limit) => limit.split('/')[1]?.split(':')[0]?.trim() ?? '');

/** The draft that makes the plan one with the limits in `text` and no others. */
export function draftOf(plan: Pick<Plan, 'limits'> | null, text: string, count: Plan['count']): PlanDraft {
  const limits = text.trim();
  if (limits === '') return { limits: null, count };
  const named = namesIn(limits);
  const drop = !plan?.limits ? [] : namesIn(plan.limits).filter((name) => !named.includes(name));
  return drop.length === 0 ? { limits, count } : { limits, drop, count };
}

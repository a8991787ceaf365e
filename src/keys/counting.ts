import type { Window } from '../limits/limits.ts';
import type { Plans } from '../limits/plans.ts';
import type { KeyRecord } from './key.ts';

/** The subject whose counters a key moves: the key itself, or its account if the plan counts accounts. */
export function subjectOf({ id, plan, account }: Pick<KeyRecord, 'id' | 'plan' | 'account'>, plans: Plans): string {
  return plans.plans.get(plan)?.count === 'account' ? `account:${plan}:${account}` : `key:${id}`;
}

/** The limits that hold for a key: its own, else its account's, else its plan's; `null` if none of them has any. */
export function windowsOf(
  record: Pick<KeyRecord, 'windows' | 'account' | 'plan'>,
  plans: Plans,
): readonly Window[] | null {
  const plan = plans.plans.get(record.plan);
  if (!plan) return null;
  // Keys that share counters must share limits: the same count would mean something else for each of them.
  const own = plan.count === 'account' ? null : record.windows;
  return own ?? plans.accounts.get(record.account) ?? plan.windows;
}

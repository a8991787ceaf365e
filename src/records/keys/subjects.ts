import type { Limits, Window } from '../../limits/limits.ts';
import type { Plans } from '../../limits/plans.ts';
import { withScoped } from '../../limits/scopes.ts';
import type { KeyRecord } from './key.ts';

export function subjectOf(
  { id, plan, account }: Pick<KeyRecord, 'id' | 'plan' | 'account'>,
  plans: Plans,
): string {
  const parts =
    plans.plans.get(plan)?.count === 'account'
      ? ['account', plan, account]
      : ['key', id];
  // A template would be kept as its parts, which take 40 bytes more.
  return parts.join(':');
}

export function targetIn(subject: string): {
  readonly target: string;
  readonly plan: string | null;
} {
  const [, plan, account] = /^account:([^:]*):(.*)$/.exec(subject) ?? [];
  return plan === undefined
    ? { target: subject.replace(/^key:/, ''), plan: null }
    : { target: account!, plan };
}

export function windowsOf(
  record: Pick<KeyRecord, 'windows' | 'account' | 'plan'>,
  plans: Plans,
): readonly Window[] | null {
  const plan = plans.plans.get(record.plan);
  if (!plan) return null;
  // Keys that share counters must share limits.
  const own = plan.count === 'account' ? null : record.windows;
  return own ?? plans.accounts.get(record.account) ?? plan.windows;
}

/** Includes the contract's windows. Counters for other windows are not kept. */
export function limitsOf(
  windows: readonly Window[],
  { escalation, scoped = [] }: Pick<Plans, 'escalation' | 'scoped'>,
): Limits {
  return { windows: withScoped(windows, scoped), escalation };
}

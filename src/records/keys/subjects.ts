import type { Limits, Window } from '../../limits/limits.ts';
import type { Plans } from '../../limits/plans.ts';
import { withScoped } from '../../limits/scopes.ts';
import type { KeyRecord } from './key.ts';

type Counted = Pick<KeyRecord, 'id' | 'plan' | 'account'>;

// A template would be kept as its parts, which take 40 bytes more.
export const keySubject = ({ id }: Counted): string => ['key', id].join(':');

export const accountSubject = ({ plan, account }: Counted): string =>
  ['account', plan, account].join(':');

export function subjectOf(record: Counted, plans: Plans): string {
  const isShared = plans.plans.get(record.plan)?.count === 'account';
  return isShared ? accountSubject(record) : keySubject(record);
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

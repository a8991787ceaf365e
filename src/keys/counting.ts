import type { Party } from '@storegate/http1';
import type { Limits, Window } from '../limits/limits.ts';
import { DEFAULT_WEIGHT, type Plans } from '../limits/plans.ts';
import { withScoped } from '../limits/scopes.ts';
import type { KeyRecord } from './key.ts';

/** The subject whose counters a key moves: the key itself, or its account if the plan counts accounts. */
export function subjectOf({ id, plan, account }: Pick<KeyRecord, 'id' | 'plan' | 'account'>, plans: Plans): string {
  return plans.plans.get(plan)?.count === 'account' ? `account:${plan}:${account}` : `key:${id}`;
}

/** What logs call a subject: the id of its key, or its account, whose bans are told apart by their plan; `null` for a key. */
export function targetIn(subject: string): { readonly target: string; readonly plan: string | null } {
  const [, plan, account] = /^account:([^:]*):(.*)$/.exec(subject) ?? [];
  return plan === undefined ? { target: subject.replace(/^key:/, ''), plan: null } : { target: account!, plan };
}

/** The windows that a key has: its own, else its account's, else its plan's; `null` if none of them has any. */
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

/** How many requests may be in flight at once: its account's own number, else its plan's; `null`: any number. */
export function concurrencyOf({ account, plan }: Pick<KeyRecord, 'account' | 'plan'>, plans: Plans): number | null {
  return plans.concurrencies?.get(account) ?? plans.plans.get(plan)?.concurrency ?? null;
}

/** As whom the requests of a key wait for a busy store. */
export function queueOwnerOf(record: Pick<KeyRecord, 'id' | 'plan' | 'account'>, plans: Plans): Party {
  const { plan } = record;
  return { group: plan, weight: plans.plans.get(plan)?.weight ?? DEFAULT_WEIGHT, member: subjectOf(record, plans) };
}

/** All that a party with these windows is counted in, those of the contract included: a ledger keeps no other counts. */
export function limitsOf(
  windows: readonly Window[],
  { ladder, scoped = [] }: Pick<Plans, 'ladder' | 'scoped'>,
): Limits {
  return { windows: withScoped(windows, scoped), ladder };
}

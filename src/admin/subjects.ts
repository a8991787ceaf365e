import type { KeyRecord } from '../keys/key.ts';
import { limitsOf, subjectOf, windowsOf } from '../keys/subjects.ts';
import type { Limits } from '../limits/limits.ts';
import { fullNameOf } from '../limits/scopes.ts';
import { AdminError } from './admin-error.ts';
import type { AdminContext } from './context.ts';
import { keysOf } from './key-lists.ts';
import { time } from './view.ts';

/** One whose requests are counted together: a key, or an account if its plan counts accounts. */
export interface Subject {
  readonly subject: string;
  /** `null`: the account as a whole. */
  readonly key: string | null;
  readonly account: string;
  readonly plan: string;
  /** `null`: no limits are set, so no request is admitted or counted. */
  readonly limits: Limits | null;
}

/** A party with limits, which alone can be counted, banned or given units back. */
export type CountedSubject = Subject & { readonly limits: Limits };

const KEY_ID = /^key_[0-9A-Za-z]{16}$/;

/** The parties that the id of a key or the name of an account stands for. Throws AdminError if there is none. */
export async function subjectsOf(context: AdminContext, name: string): Promise<Subject[]> {
  if (KEY_ID.test(name)) {
    const record = await context.keys.get(name);
    if (!record) throw new AdminError('not_found', `There is no key with the id ${name}.`);
    return [subjectIn(context, record)];
  }
  const records = (await keysOf(context, name)).filter(({ revokedAt }) => revokedAt === null);
  if (records.length === 0) {
    throw new AdminError(
      'not_found',
      `There is no key with this id, and no account ${JSON.stringify(name)} with a key.`,
    );
  }
  const bySubject = new Map(records.map((record) => subjectIn(context, record)).map((party) => [party.subject, party]));
  return [...bySubject.values()];
}

export function subjectIn(context: AdminContext, record: KeyRecord): Subject {
  const plans = context.plans();
  const subject = subjectOf(record, plans);
  const windows = windowsOf(record, plans);
  return {
    subject,
    key: subject.startsWith('key:') ? record.id : null,
    account: record.account,
    plan: record.plan,
    limits: windows && limitsOf(windows, { escalation: plans.escalation, scoped: context.scoped() }),
  };
}

/** The parties that have limits. Throws AdminError if none has. */
export function countedSubjects(parties: readonly Subject[]): CountedSubject[] {
  const counted = parties.filter((party): party is CountedSubject => party.limits !== null);
  if (counted.length > 0) return counted;
  throw new AdminError(
    'conflict',
    'No limits are set for this party, so nothing of it is counted: give the key limits first.',
  );
}

/** All that logs have called the key with this id, or the account with this name and its keys, whatever became of them. */
export async function targetsOf(context: AdminContext, name: string): Promise<ReadonlySet<string>> {
  if (KEY_ID.test(name)) {
    const record = await context.keys.get(name);
    return new Set(record ? [name, targetOf(subjectIn(context, record))] : [name]);
  }
  const records = await keysOf(context, name);
  return new Set([name, ...records.map(({ id }) => id)]);
}

/** What the audit log calls a party. */
export function targetOf({ key, account }: Pick<Subject, 'key' | 'account'>): string {
  return key ?? account;
}

/**
 * In whose turn a change of a key (its id) or an account (its name) is made. An account shares its turn with its keys,
 * since a change of the account reaches them, and a change of a key may move the counters of the account.
 */
export async function turnOf({ keys }: Pick<AdminContext, 'keys'>, name: string): Promise<string> {
  return accountTurn((await keys.get(name))?.account ?? name);
}

export function accountTurn(account: string): string {
  return `account:${account}`;
}

/** How a party stands now, in every window. */
export async function usageOf(context: AdminContext, { subject, key, account, plan, limits }: Subject) {
  const who = { subject, key, account, plan };
  if (!limits) return { ...who, windows: [], banned: null, strikes: 0, level: 0 };
  const state = context.state();
  const [{ readings, bannedUntil, strikes }, level] = await Promise.all([
    state.look(subject, limits),
    state.banLevel(subject, limits),
  ]);
  const windows = readings.map(({ window, remaining, resetAt }) => ({
    name: fullNameOf(window),
    kind: window.kind,
    limit: window.limit,
    used: window.limit - remaining,
    remaining,
    resets: remaining === window.limit ? null : time(resetAt),
  }));
  return { ...who, windows, banned: bannedUntil > 0 ? time(bannedUntil) : null, strikes, level };
}

export type SubjectUsage = Awaited<ReturnType<typeof usageOf>>;

/** How a party stands when up to so many units are given back, in the window of this name or in all of them. */
export function restoreUnits(standing: SubjectUsage, units: number, name: string | null): SubjectUsage {
  const windows = standing.windows.map((window) => {
    if (name !== null && window.name !== name) return window;
    const used = Math.max(0, window.used - units);
    return { ...window, used, remaining: window.limit - used, resets: used === 0 ? null : window.resets };
  });
  return { ...standing, windows };
}

import type { Usage } from '@storegate/admin-api';
import { remainingIn } from '../limits/admission.ts';
import type { Limits } from '../limits/limits.ts';
import { escalationIn } from '../limits/plans.ts';
import { fullNameOf } from '../limits/scopes.ts';
import type { KeyRecord } from '../records/keys/key.ts';
import {
  accountSubject,
  keySubject,
  limitsOf,
  subjectOf,
  windowsOf,
} from '../records/keys/subjects.ts';
import { AdminError } from './admin-error.ts';
import type { AdminContext } from './context.ts';
import { keysOf } from './lists.ts';
import { readablePlans } from './readable-plans.ts';
import { time } from './view.ts';

/** A key, or an account if its plan counts accounts. */
export interface Subject {
  readonly subject: string;
  /** `null`: the whole account. */
  readonly key: string | null;
  readonly account: string;
  readonly plan: string;
  /** `null`: limits are not set, so no request is admitted or counted. */
  readonly limits: Limits | null;
}

export type CountedSubject = Subject & { readonly limits: Limits };

const KEY_ID = /^key_[0-9A-Za-z]{16}$/;

/** `name`: the id of a key or the name of an account. Throws AdminError if unknown. */
export async function subjectsOf(
  context: AdminContext,
  name: string,
): Promise<Subject[]> {
  const records = await recordsOf(context, name);
  const bySubject = new Map(
    records
      .map((record) => subjectIn(context, record))
      .map((subject) => [subject.subject, subject]),
  );
  return [...bySubject.values()];
}

async function recordsOf(
  context: AdminContext,
  name: string,
): Promise<KeyRecord[]> {
  if (KEY_ID.test(name)) {
    const record = await context.keys.get(name);
    if (!record)
      throw new AdminError('not_found', `The key ${name} does not exist.`);
    return [record];
  }
  const all = await keysOf(context, name);
  if (all.length === 0) throw unknownSubject(name);
  const records = all.filter(({ revokedAt }) => revokedAt === null);
  if (records.length > 0) return records;
  throw new AdminError(
    'not_found',
    `All keys of the account ${JSON.stringify(name)} are revoked.`,
  );
}

const unknownSubject = (name: string) =>
  new AdminError(
    'not_found',
    `No key or account is named ${JSON.stringify(name)}.`,
  );

/** Throws AdminError if no key ever had this id or account. */
export async function refuseUnknownSubject(
  context: AdminContext,
  name: string,
): Promise<void> {
  if (KEY_ID.test(name) && (await context.keys.get(name))) return;
  if ((await keysOf(context, name)).length === 0) throw unknownSubject(name);
}

/**
 * Banned subjects of a key or account with their usage, without the plans: they may count either.
 * Throws AdminError if unknown.
 */
export async function bannedUsage(
  context: AdminContext,
  name: string,
): Promise<(readonly [Subject, Usage])[]> {
  const records = await recordsOf(context, name);
  const bans = await context.state().bans();
  return bans.flatMap(({ subject, until, level }) => {
    const own = records.find((record) => keySubject(record) === subject);
    const record =
      own ?? records.find((record) => accountSubject(record) === subject);
    if (record === undefined) return [];
    const { id, account, plan } = record;
    const who = { subject, key: own ? id : null, account, plan };
    const usage = { windows: [], banned: time(until), strikes: 0, level };
    return [
      [
        { ...who, limits: null },
        { ...who, ...usage },
      ] as const,
    ];
  });
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
    limits:
      windows &&
      limitsOf(windows, {
        escalation: escalationIn(plans.plans.get(record.plan), plans),
        scoped: context.contract().windows,
      }),
  };
}

/** Throws AdminError if unknown, or if none has limits. */
export async function countedSubjects(
  context: AdminContext,
  name: string,
): Promise<CountedSubject[]> {
  const subjects = await subjectsOf(context, name);
  const counted = subjects.filter(
    (subject): subject is CountedSubject => subject.limits !== null,
  );
  if (counted.length > 0) return counted;
  throw new AdminError(
    'conflict',
    'No limits are set for this subject, so nothing of it is counted: give the key limits first.',
  );
}

/** All names in logs, whatever the state of the keys. */
export async function targetsOf(
  context: AdminContext,
  name: string,
): Promise<ReadonlySet<string>> {
  if (KEY_ID.test(name)) {
    const record = await context.keys.get(name);
    if (!record) return new Set([name]);
    const plans = readablePlans(context);
    // Unknown plans may count either.
    const isOwn =
      plans !== null && subjectOf(record, plans) === keySubject(record);
    return new Set([name, isOwn ? name : record.account]);
  }
  const records = await keysOf(context, name);
  return new Set([name, ...records.map(({ id }) => id)]);
}

export function targetOf({
  key,
  account,
}: Pick<Subject, 'key' | 'account'>): string {
  return key ?? account;
}

/**
 * The lock name of a change. An account shares it with its keys, as changes of one affect the
 * other.
 */
export async function turnOf(
  { keys }: AdminContext,
  name: string,
): Promise<string> {
  return accountTurn((await keys.get(name))?.account ?? name);
}

export function accountTurn(account: string): string {
  return `account:${account}`;
}

export async function usageOf(
  context: AdminContext,
  { subject, key, account, plan, limits }: Subject,
): Promise<Usage> {
  const who = { subject, key, account, plan };
  if (!limits)
    return { ...who, windows: [], banned: null, strikes: 0, level: 0 };
  const state = context.state();
  const [{ readings, bannedUntil, strikes }, level] = await Promise.all([
    state.look(subject, limits),
    state.banLevel(subject, limits),
  ]);
  const windows = readings.map((reading) => ({
    name: fullNameOf(reading.window),
    kind: reading.window.kind,
    limit: reading.window.limit,
    used: reading.used,
    remaining: remainingIn(reading),
    resets: reading.used === 0 ? null : time(reading.resetAt),
  }));
  return {
    ...who,
    windows,
    banned: bannedUntil > 0 ? time(bannedUntil) : null,
    strikes,
    level,
  };
}

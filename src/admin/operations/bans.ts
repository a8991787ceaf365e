import type { Bans, Usage } from '@storegate/admin-api';
import { limitText } from '@storegate/admin-api/text';
import { longest } from '../../config/durations.ts';
import { UnusableSection } from '../../config/problems/problems.ts';
import { formatDuration } from '../../config/units.ts';
import { formatLimit } from '../../config/windows.ts';
import { durationAtLevel } from '../../limits/ban-escalation.ts';
import type { KeyStore, KeysAsOf } from '../../records/keys/store.ts';
import type {
  AuditAction,
  AuditEntry,
} from '../../records/operators/audit-log.ts';
import type { Ban, BansAsOf } from '../../state/state.ts';
import { AdminError } from '../admin-error.ts';
import {
  banAuthorOf,
  eachInTurn,
  endsOf,
  entriesSince,
  type RecentBans,
  recentBansOf,
} from '../ban-history.ts';
import { type AdminOperations, orLastKnown, type Task } from '../call.ts';
import type { Change } from '../change.ts';
import type { AdminContext } from '../context.ts';
import { durationIn, momentIn } from '../duration.ts';
import { DEFAULT_LIMIT } from '../lists.ts';
import { readablePlans } from '../readable-plans.ts';
import { sameReason } from '../reason.ts';
import {
  bannedUsage,
  countedSubjects,
  refuseUnknownSubject,
  targetOf,
  targetsOf,
  turnOf,
} from '../subjects.ts';
import { entryView, time } from '../view.ts';
import { changeUsage, countedUsage, restoreAll, unitsUsed } from './usage.ts';

export function banOperations(context: AdminContext, change: Change) {
  /**
   * `lengthOf` returns the duration from now on, given the remainder of a current ban; in
   * milliseconds.
   */
  async function ban(
    task: Task<'addBan' | 'extendBan'>,
    action: AuditAction,
    lengthOf: (remaining: number, subject: string) => number,
  ): Promise<Bans> {
    const reason = sameReason(task.reason, task.body.reason);
    return await change(
      { ...task, reason },
      await turnOf(context, task.path.subject),
      async ({ make }) => {
        const subjects = await countedSubjects(context, task.path.subject);
        const planned = await Promise.all(
          subjects.map(async (counted) => {
            const { subject, key, account, plan, limits } = counted;
            const { now, bannedUntil } = await context
              .state()
              .look(subject, limits);
            const remaining = Math.max(0, bannedUntil - now);
            const length = lengthOf(remaining, subject);
            const before = await context.state().banLevel(subject, limits);
            const level = remaining > 0 ? before : before + 1;
            const view = escalationView(context, {
              subject,
              until: now + length,
              since: now,
              limit: null,
              level,
            });
            const entry = {
              action,
              target: targetOf(counted),
              before: {
                plan,
                until: bannedUntil > 0 ? time(bannedUntil) : null,
              },
              after: { plan, until: view.until, reason },
            };
            return {
              ban: {
                subject,
                key,
                account,
                plan,
                ...view,
                reason,
                by: task.actor,
              },
              part: {
                entry,
                make: async () => context.state().ban(subject, limits, length),
              },
            };
          }),
        );
        const bans = planned.map(({ ban }) => ban);
        const parts = planned.map(({ part }) => part);
        return await make(parts, { bans });
      },
    );
  }

  return {
    listBans: async ({ now }) =>
      await orLastKnown(
        async (): Promise<Bans> => {
          const bans = (await context.state().bans()).toSorted(byEnd);
          return {
            bans: await eachInTurn(bans, (ban) => banView(context, ban, now)),
          };
        },
        context.lastKnown?.bans,
        async ({ bans }) => {
          const copied = context.lastKnown?.keys() ?? null;
          return {
            bans: await Promise.all(
              bans.toSorted(byEnd).map((ban) => cachedBanView(copied, ban)),
            ),
          };
        },
      ),
    listBanHistory: async ({ now, query }) => {
      const { subject, since: from, limit = DEFAULT_LIMIT, below } = query;
      const kept = now - context.config().audit.bans.maxAge;
      const since = Math.max(kept, momentIn('since', from) ?? 0);
      const targets =
        subject === undefined ? null : await targetsOf(context, subject);
      const found: AuditEntry[] = [];
      for await (const entry of entriesSince(context.banLog, since, below)) {
        if (targets === null || targets.has(entry.target)) found.push(entry);
        if (found.length > limit) break;
      }
      if (found.length === 0 && subject !== undefined)
        await refuseUnknownSubject(context, subject);
      const shown = found.slice(0, limit);
      const ends = await endsOf(context.banLog, shown, now);
      const entries = shown.map((entry) => ({
        ...entryView(entry),
        ended: ends.get(entry.number) ?? null,
      }));
      return {
        entries,
        next: found.length > limit ? shown.at(-1)!.number : null,
      };
    },
    addBan: (task) =>
      ban(task, 'bans.add', () => durationIn('duration', task.body.duration)),
    extendBan: (task) =>
      ban(task, 'bans.extend', (remaining, subject) => {
        if (remaining === 0)
          throw new AdminError(
            'conflict',
            `${subject} is not banned: add a ban instead.`,
          );
        return Math.min(
          remaining + durationIn('duration', task.body.duration),
          longest('duration'),
        );
      }),
    liftBan: (task) =>
      changeUsage(context, change, task, {
        action: 'bans.lift',
        find: (name) => liftableUsage(context, name),
        after: (usage) => ({
          ...restoreAll(usage),
          banned: null,
          strikes: 0,
          level: 0,
        }),
        audited: strikeFields,
        make: async ({ subject }) => context.state().liftBan(subject),
      }),
  } satisfies Partial<AdminOperations>;
}

/** A current ban can be lifted although the plans or the contract cannot be read. */
async function liftableUsage(context: AdminContext, name: string) {
  try {
    return await countedUsage(context, name);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const found = await bannedUsage(context, name);
    if (found.length === 0) throw error;
    return found;
  }
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof UnusableSection ||
  (error instanceof AdminError && error.code === 'configuration_unfit');

function strikeFields(usage: Usage) {
  const { plan, banned, strikes, level } = usage;
  return { plan, until: banned, strikes, level, used: unitsUsed(usage) };
}

const byEnd = (one: Pick<Ban, 'until'>, other: Pick<Ban, 'until'>) =>
  one.until - other.until;

async function banView(context: AdminContext, ban: Ban, now: number) {
  const recent = await recentBansOf(ban.subject, now, context);
  const cause = await causeOf(context, ban, recent);
  return {
    ...(await bannedSubject(context.keys, ban)),
    ...escalationView(context, ban),
    ...cause,
    history: recent.history,
  };
}

/** For an outage of the state. `keys`: the copy, if any. */
async function cachedBanView(
  keys: KeysAsOf | null,
  { subject, until, limit }: BansAsOf['bans'][number],
) {
  const times = {
    since: null,
    until: time(until),
    limit: limit && formatLimit(limit),
  };
  const unknown = {
    level: null,
    nextDuration: null,
    resetsAt: null,
    reason: null,
    by: null,
  };
  return { ...(await bannedSubject(keys, { subject })), ...times, ...unknown };
}

async function bannedSubject(
  keys: Pick<KeyStore, 'get'> | null,
  { subject }: Pick<Ban, 'subject'>,
) {
  const [kind, ...rest] = subject.split(':');
  const id = kind === 'key' ? rest.join(':') : null;
  const record = id === null ? null : await keys?.get(id);
  const [plan = null, account = null] =
    kind === 'account' ? rest : [record?.plan, record?.account];
  return { subject, key: keys ? (record?.id ?? null) : id, account, plan };
}

/** Automatic bans have no author. */
async function causeOf(
  { auditLog }: AdminContext,
  { subject, until, limit }: Ban,
  recent: RecentBans,
) {
  const cause = recent.causeOf(until);
  if (cause !== null) {
    const { reason, strikes, operation } = cause;
    return { reason, by: null, strikes, operation };
  }
  if (limit)
    return {
      reason: `sent more requests after the limit of ${limitText(formatLimit(limit))} was used up`,
      by: null,
    };
  const author = await banAuthorOf(auditLog, subject, until);
  return { reason: author?.reason ?? null, by: author?.by ?? null };
}

/** Uses the escalation that is in force now, if it can be read. */
function escalationView(
  context: AdminContext,
  { until, since, limit, level }: Ban,
) {
  const escalation = readablePlans(context)?.escalation ?? null;
  return {
    since: time(since),
    until: time(until),
    limit: limit && formatLimit(limit),
    level,
    nextDuration:
      escalation && formatDuration(durationAtLevel(escalation, level)),
    resetsAt: escalation && time(until + level * escalation.decay),
  };
}

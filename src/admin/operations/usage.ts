import type { Usage, UsageList } from '@storegate/admin-api';
import { fullNameOf } from '../../limits/scopes.ts';
import type { AuditAction } from '../../records/operators/audit-log.ts';
import { RecentBans } from '../ban-history.ts';
import {
  type AdminAnswer,
  type AdminOperations,
  ok,
  type Task,
} from '../call.ts';
import type { Change } from '../change.ts';
import type { AdminContext } from '../context.ts';
import { unknownName } from '../filters.ts';
import {
  type CountedSubject,
  countedSubjects,
  type Subject,
  subjectsOf,
  targetOf,
  turnOf,
  usageOf,
} from '../subjects.ts';

interface UsageChange {
  readonly action: AuditAction;
  /** The resulting usage, which `make` brings about. */
  readonly after: (usage: Usage) => Usage;
  readonly make: (subject: CountedSubject) => Promise<void>;
  /** For the audit log. */
  readonly audited: (usage: Usage) => object;
  readonly check?: (parties: readonly CountedSubject[]) => void;
}

export async function changeUsage(
  context: AdminContext,
  change: Change,
  task: Task<'liftBan' | 'resetUsage' | 'grantUsage'>,
  { action, after, make, audited, check }: UsageChange,
): Promise<AdminAnswer<UsageList>> {
  const name = task.path.subject;
  return await change(task, await turnOf(context, name), async (audit) => {
    const parties = await countedSubjects(context, name);
    check?.(parties);
    const before = await Promise.all(
      parties.map((subject) => usageOf(context, subject)),
    );
    const usage = before.map(after);
    const parts = parties.map((subject, i) => ({
      entry: {
        action,
        target: targetOf(subject),
        before: audited(before[i]!),
        after: audited(usage[i]!),
      },
      make: () => make(subject),
    }));
    return await audit.make(parts, ok({ usage }));
  });
}

export function usageOperations(context: AdminContext, change: Change) {
  return {
    getUsage: async ({ path, now }) => {
      const parties = await subjectsOf(context, path.subject);
      const recent = await RecentBans.before(now, context);
      const shown = async (subject: Subject) => ({
        ...(await usageOf(context, subject)),
        history: recent.of(subject.subject),
      });
      return ok({ usage: await Promise.all(parties.map(shown)) });
    },
    resetUsage: (task) =>
      changeUsage(context, change, task, {
        action: 'usage.reset',
        after: restoreAll,
        audited: usedUnits,
        make: async ({ subject }) => context.state().reset(subject),
      }),
    grantUsage: (task) => {
      const { units, window = null } = task.body;
      return changeUsage(context, change, task, {
        action: 'usage.grant',
        after: (usage) => restoreUnits(usage, units, window),
        audited: usedUnits,
        make: async ({ subject, limits }) =>
          context.state().grant(subject, limits, units, window),
        check: (parties) => checkWindow(parties, window),
      });
    },
  } satisfies Partial<AdminOperations>;
}

function checkWindow(
  parties: readonly CountedSubject[],
  window: string | null,
): void {
  const names = parties.flatMap(({ limits }) => limits.windows.map(fullNameOf));
  if (window === null || names.includes(window)) return;
  throw unknownName('window', window, [...new Set(names)]);
}

function usedUnits({ subject, windows }: Usage) {
  return {
    [subject]: Object.fromEntries(
      windows.map(({ name, used }) => [name, used]),
    ),
  };
}

/** `name`: of one window; `null`: of all. */
function restoreUnits(usage: Usage, units: number, name: string | null): Usage {
  const windows = usage.windows.map((window) => {
    if (name !== null && window.name !== name) return window;
    const used = Math.max(0, window.used - units);
    return {
      ...window,
      used,
      remaining: window.limit - used,
      resets: used === 0 ? null : window.resets,
    };
  });
  return { ...usage, windows };
}

export const restoreAll = (usage: Usage) =>
  restoreUnits(usage, Number.POSITIVE_INFINITY, null);

import type { Usage, UsageList } from '@storegate/admin-api';
import { fullNameOf } from '../../limits/scopes.ts';
import type { AuditAction } from '../../records/operators/audit-log.ts';
import { eachInTurn, recentBansOf } from '../ban-history.ts';
import type { AdminOperations, Task } from '../call.ts';
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

type Found<S extends Subject> = readonly (readonly [S, Usage])[];

interface UsageChange<S extends Subject> {
  readonly action: AuditAction;
  /** `name`: a key id or an account. Throws AdminError if it has no subject. */
  readonly find: (name: string) => Promise<Found<S>>;
  /** The usage that `make` brings about if no request is counted meanwhile. */
  readonly after: (usage: Usage) => Usage;
  readonly make: (subject: S) => Promise<void>;
  /** For the audit log. */
  readonly audited: (usage: Usage) => object;
}

export async function changeUsage<S extends Subject>(
  context: AdminContext,
  change: Change,
  task: Task<'liftBan' | 'resetUsage' | 'grantUsage'>,
  { action, find, after, make, audited }: UsageChange<S>,
): Promise<UsageList> {
  const name = task.path.subject;
  return await change(task, await turnOf(context, name), async (audit) => {
    const found = await find(name);
    const parts = found.map(([subject, before]) => ({
      entry: {
        action,
        target: targetOf(subject),
        before: audited(before),
        after: audited(after(before)),
      },
      make: () => make(subject),
    }));
    const usage = found.map(([, before]) => after(before));
    await audit.make(parts, { usage });
    const read = found.map(([subject]) => usageOf(context, subject));
    return { usage: await Promise.all(read) };
  });
}

/** Throws AdminError if unknown, or if none has limits. */
export async function countedUsage(
  context: AdminContext,
  name: string,
): Promise<Found<CountedSubject>> {
  const subjects = await countedSubjects(context, name);
  return await Promise.all(
    subjects.map(
      async (subject) => [subject, await usageOf(context, subject)] as const,
    ),
  );
}

export function usageOperations(context: AdminContext, change: Change) {
  return {
    getUsage: async ({ path, now }) => {
      const subjects = await subjectsOf(context, path.subject);
      const read = subjects.map((subject) => usageOf(context, subject));
      const usage = await eachInTurn(await Promise.all(read), async (one) => {
        const recent = await recentBansOf(one.subject, now, context);
        return { ...one, history: recent.history };
      });
      return { usage };
    },
    resetUsage: (task) =>
      changeUsage(context, change, task, {
        action: 'usage.reset',
        find: (name) => countedUsage(context, name),
        after: restoreAll,
        audited: usedUnits,
        make: async ({ subject }) => context.state().reset(subject),
      }),
    grantUsage: (task) => {
      const { units, window = null } = task.body;
      return changeUsage(context, change, task, {
        action: 'usage.grant',
        async find(name) {
          const found = await countedUsage(context, name);
          checkWindow(found, window);
          return found;
        },
        after: (usage) => restoreUnits(usage, units, window),
        audited: usedUnits,
        make: async ({ subject, limits }) =>
          context.state().grant(subject, limits, units, window),
      });
    },
  } satisfies Partial<AdminOperations>;
}

function checkWindow(
  found: Found<CountedSubject>,
  window: string | null,
): void {
  const names = found.flatMap(([{ limits }]) => limits.windows.map(fullNameOf));
  if (window === null || names.includes(window)) return;
  throw unknownName('window', window, [...new Set(names)]);
}

/** By window. */
export const unitsUsed = ({ windows }: Usage) =>
  Object.fromEntries(windows.map(({ name, used }) => [name, used]));

const usedUnits = (usage: Usage) => ({ [usage.subject]: unitsUsed(usage) });

/** `name`: of one window; `null`: of all. */
function restoreUnits(usage: Usage, units: number, name: string | null): Usage {
  const windows = usage.windows.map((window) => {
    if (name !== null && window.name !== name) return window;
    const used = Math.max(0, window.used - units);
    return {
      ...window,
      used,
      remaining: Math.max(0, window.limit - used),
      resets: used === 0 ? null : window.resets,
    };
  });
  return { ...usage, windows };
}

export const restoreAll = (usage: Usage) =>
  restoreUnits(usage, Number.POSITIVE_INFINITY, null);

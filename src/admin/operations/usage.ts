import type { UsageList } from '@storegate/console';
import { fullNameOf } from '../../limits/scopes.ts';
import { AdminError } from '../admin-error.ts';
import { RecentBans } from '../ban-history.ts';
import { type AdminAnswer, type AdminOperations, ok, type Task } from '../call.ts';
import type { Change } from '../change.ts';
import type { AdminContext } from '../context.ts';
import {
  type CountedSubject,
  countedSubjects,
  restoreUnits,
  type Subject,
  type SubjectUsage,
  subjectsOf,
  targetOf,
  turnOf,
  usageOf,
} from '../subjects.ts';

export function usageOperations(context: AdminContext, change: Change) {
  /** `after` computes the resulting usage, `make` applies it. */
  async function give(
    task: Task,
    action: string,
    after: (usage: SubjectUsage) => SubjectUsage,
    make: (party: CountedSubject) => Promise<void>,
    check: (parties: readonly CountedSubject[]) => void = () => {},
  ): Promise<AdminAnswer<UsageList>> {
    return await change(task, await turnOf(context, task.path.subject!), async (audit) => {
      const parties = countedSubjects(await subjectsOf(context, task.path.subject!));
      check(parties);
      const before = await Promise.all(parties.map((party) => usageOf(context, party)));
      const usage = before.map(after);
      const parts = parties.map((party, i) => ({
        entry: { action, target: targetOf(party), before: units(before[i]!), after: units(usage[i]!) },
        make: () => make(party),
      }));
      return await audit.make(parts, ok({ usage }));
    });
  }

  return {
    getUsage: async ({ path, now }) => {
      const parties = await subjectsOf(context, path.subject!);
      const recent = await RecentBans.before(now, context);
      const shown = async (party: Subject) => ({
        ...(await usageOf(context, party)),
        history: recent.of(party.subject),
      });
      return ok({ usage: await Promise.all(parties.map(shown)) });
    },
    resetUsage: (task) =>
      give(
        task,
        'usage.reset',
        (usage) => restoreUnits(usage, Number.POSITIVE_INFINITY, null),
        async ({ subject }) => context.state().reset(subject),
      ),
    grantUsage: (task) => {
      const { units, window = null } = task.body as { units: number; window?: string };
      return give(
        task,
        'usage.grant',
        (usage) => restoreUnits(usage, units, window),
        async ({ subject, limits }) => context.state().grant(subject, limits, units, window),
        (parties) => checkWindow(parties, window),
      );
    },
  } satisfies Partial<AdminOperations>;
}

function checkWindow(parties: readonly CountedSubject[], window: string | null): void {
  const names = parties.flatMap(({ limits }) => limits.windows.map(fullNameOf));
  if (window === null || names.includes(window)) return;
  throw new AdminError(
    'invalid_value',
    `The window ${JSON.stringify(window)} does not exist; windows: ${[...new Set(names)].join(', ')}.`,
  );
}

function units({ subject, windows }: SubjectUsage) {
  return { [subject]: Object.fromEntries(windows.map(({ name, used }) => [name, used])) };
}

import { act } from '../act.ts';
import { AdminError } from '../admin-error.ts';
import { type AdminOperations, ok, type Task } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { countedOnes, type PartyStanding, partiesOf, standingOf } from '../parties.ts';

export function usageOperations(context: AdminContext): AdminOperations {
  const standings = (parties: Awaited<ReturnType<typeof partiesOf>>) =>
    Promise.all(parties.map((party) => standingOf(context, party)));

  return {
    showUsage: {
      role: 'read',
      run: async ({ path }) => ok({ usage: await standings(await partiesOf(context, path.party!)) }),
    },
    resetUsage: {
      role: 'operate',
      run: async (task) => {
        const parties = countedOnes(await partiesOf(context, task.path.party!));
        const before = await standings(parties);
        const after = before.map((standing) => giveBack(standing, Number.POSITIVE_INFINITY, null));
        const entry = { action: 'usage.reset', target: task.path.party!, before: units(before), after: units(after) };
        return await act(context, task, entry, ok({ usage: after }), async () => {
          for (const { subject } of parties) await context.state().reset(subject);
        });
      },
    },
    grantUsage: { role: 'operate', run: (task) => grant(task) },
  };

  async function grant(task: Task) {
    const { path, body } = task;
    const window: string | null = body.window ?? null;
    const parties = countedOnes(await partiesOf(context, path.party!));
    const names = parties.flatMap(({ limits }) => limits.windows.map(({ name }) => name));
    if (window !== null && !names.includes(window)) {
      throw new AdminError(
        'invalid_value',
        `There is no window ${JSON.stringify(window)}; there are ${[...new Set(names)].join(', ')}.`,
      );
    }
    const before = await standings(parties);
    const after = before.map((standing) => giveBack(standing, body.units, window));
    const entry = { action: 'usage.grant', target: path.party!, before: units(before), after: units(after) };
    return await act(context, task, entry, ok({ usage: after }), async () => {
      for (const { subject, limits } of parties) await context.state().grant(subject, limits, body.units, window);
    });
  }
}

function giveBack(standing: PartyStanding, units: number, name: string | null): PartyStanding {
  const windows = standing.windows.map((window) => {
    if (name !== null && window.name !== name) return window;
    const used = Math.max(0, window.used - units);
    return { ...window, used, remaining: window.limit - used, resets: used === 0 ? null : window.resets };
  });
  return { ...standing, windows };
}

/** Units used by subject and window: what the audit log says of a standing. */
function units(standings: readonly PartyStanding[]) {
  return Object.fromEntries(
    standings.map(({ subject, windows }) => [
      subject,
      Object.fromEntries(windows.map(({ name, used }) => [name, used])),
    ]),
  );
}

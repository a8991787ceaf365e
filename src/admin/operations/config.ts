import type { Reload } from '@storegate/admin-api';
import { describeConfig } from '../../config/describe.ts';
import { needsRestart } from '../../config/restart.ts';
import type { AdminOperations, Task } from '../call.ts';
import type { Change } from '../change.ts';
import type { AdminContext, Reloaded } from '../context.ts';
import { differencesBetween } from '../differences.ts';
import { contractCopyView } from '../view.ts';

const RELOAD = { action: 'config.reload', target: 'configuration' } as const;

export function configOperations(context: AdminContext, change: Change) {
  function reload(task: Task): Promise<Reload> {
    return change(task, RELOAD.target, async ({ make }) => {
      const reloaded = await context.reload(
        'asked through the admin API',
        async (after, apply) => {
          const view = reloadView(after);
          const entry = { ...RELOAD, before: null, after: view };
          await make([{ entry, make: apply }], view);
        },
      );
      return reloadView(reloaded);
    });
  }

  return {
    getConfig: async () => ({
      settings: describeConfig(context.config()).map((setting) => ({
        ...setting,
        restart: needsRestart(setting.name),
      })),
    }),
    diffConfig: async () => {
      const { inForce, inFiles } = await context.compare();
      return differencesBetween(inForce, inFiles);
    },
    reload: async (task) => {
      if (!task.query.dryRun) return await reload(task);
      const { reloaded } = await context.compare();
      return reloadView(reloaded);
    },
  } satisfies Partial<AdminOperations>;
}

function reloadView({ changed, needRestart, copy }: Reloaded): Reload {
  return { changed, needRestart, contractCopy: contractCopyView(copy) };
}

import { describeConfig } from '../../config/describe.ts';
import { needsRestart } from '../../config/restart.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { Change } from '../change.ts';
import type { AdminContext } from '../context.ts';

const TARGET = 'configuration';

export function configOperations(context: AdminContext, change: Change): AdminOperations {
  return {
    showConfig: async () =>
      ok({
        settings: describeConfig(context.config()).map((setting) => ({
          ...setting,
          restart: needsRestart(setting.name),
        })),
      }),
    reload: (task) =>
      change(task, TARGET, async ({ make }) => {
        const reloaded = await context.reload('asked through the admin API', async (after, apply) => {
          const entry = { action: 'config.reload', target: TARGET, before: null, after };
          await make([{ entry, make: apply }], ok(after));
        });
        return ok(reloaded);
      }),
  };
}

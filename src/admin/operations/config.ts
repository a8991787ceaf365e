import { describeConfig } from '../../config/describe.ts';
import { needsRestart } from '../../config/restart.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { AdminContext } from '../context.ts';

export function configOperations(context: AdminContext): AdminOperations {
  return {
    showConfig: {
      role: 'read',
      run: async () =>
        ok({
          settings: describeConfig(context.config()).map((setting) => ({
            ...setting,
            restart: needsRestart(setting.name),
          })),
        }),
    },
    reload: {
      role: 'admin',
      run: async (task) => {
        const reloaded = await context.reload('asked through the admin API');
        const entry = { action: 'config.reload', target: 'configuration', before: null, after: reloaded };
        await context.auditLog.append(task.note(entry, ok(reloaded)));
        return ok(reloaded);
      },
    },
  };
}

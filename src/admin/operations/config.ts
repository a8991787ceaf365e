import { describeConfig } from '../../config/describe.ts';
import { needsRestart } from '../../config/restart.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { Desk } from '../desk.ts';

export function configOperations(desk: Desk): AdminOperations {
  return {
    showConfig: {
      role: 'read',
      run: async () =>
        ok({
          settings: describeConfig(desk.config()).map((setting) => ({
            ...setting,
            restart: needsRestart(setting.name),
          })),
        }),
    },
    reload: {
      role: 'admin',
      run: async (task) => {
        const reloaded = await desk.reload('asked through the admin API');
        const entry = { action: 'config.reload', target: 'configuration', before: null, after: reloaded };
        await desk.auditLog.append(task.note(entry, ok(reloaded)));
        return ok(reloaded);
      },
    },
  };
}

import { AUDIT_ACTIONS } from '../../keys/operators/audit-log.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { refuseUnknown } from '../filters.ts';
import { limitOf } from '../lists.ts';
import { entryView } from '../view.ts';

export function auditOperations({ auditLog }: AdminContext) {
  return {
    listAudit: async ({ query: { actor, action, target, since, below, above, ...query } }) => {
      const limit = limitOf(query);
      const asked = {
        actor,
        action,
        target,
        since: since === undefined ? undefined : Date.parse(since),
        below: below === undefined ? undefined : Number(below),
        above: above === undefined ? undefined : Number(above),
      };
      const found = await auditLog.list({ ...asked, limit: limit + 1 });
      if (found.length === 0)
        refuseUnknown('action', action?.replace(/\.failed$/, ''), AUDIT_ACTIONS);
      const entries = found.slice(0, limit).map(entryView);
      return ok({ entries, next: found.length > limit ? entries.at(-1)!.number : null });
    },
  } satisfies Partial<AdminOperations>;
}

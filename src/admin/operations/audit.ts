import { AUDIT_ACTIONS } from '../../records/operators/audit-log.ts';
import type { AdminOperations } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { momentIn } from '../duration.ts';
import { refuseUnknown } from '../filters.ts';
import { DEFAULT_LIMIT } from '../lists.ts';
import { entryView } from '../view.ts';

export function auditOperations({ auditLog }: AdminContext) {
  return {
    listAudit: async ({
      query: { since, limit = DEFAULT_LIMIT, ...query },
    }) => {
      const found = await auditLog.list({
        ...query,
        since: momentIn('since', since),
        limit: limit + 1,
      });
      if (found.length === 0)
        refuseUnknown(
          'action',
          query.action?.replace(/\.failed$/, ''),
          AUDIT_ACTIONS,
        );
      const entries = found.slice(0, limit).map(entryView);
      return {
        entries,
        next: found.length > limit ? entries.at(-1)!.number : null,
      };
    },
  } satisfies Partial<AdminOperations>;
}

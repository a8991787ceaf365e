import { type AuditEntry, type AuditLog, type AuditQuery, isAbout } from '../../keys/operators/audit-log.ts';
import type { AuditEntries } from './audit-entries.ts';
import type { AuditedChanges } from './audited-changes.ts';

const PAGE = 500;

export function auditLogInRedis(
  entries: Pick<AuditEntries, 'read'>,
  auditedChanges: Pick<AuditedChanges<null>, 'make' | 'answered' | 'forget'>,
): AuditLog {
  /** Oldest first with `above`, else newest first. */
  async function list({ above, below = Number.MAX_SAFE_INTEGER, limit, ...query }: AuditQuery): Promise<AuditEntry[]> {
    const found: AuditEntry[] = [];
    const isUp = above !== undefined;
    let { oldest, newest } = await entries.read(1, 0);
    let at = isUp ? Math.max(above + 1, oldest) : Math.min(newest, below - 1);
    while (found.length < limit && at >= oldest && at <= Math.min(newest, below - 1)) {
      const part = isUp
        ? await entries.read(at, Math.min(at + PAGE, below) - 1)
        : await entries.read(at - PAGE + 1, at);
      const page = isUp ? part.entries : part.entries.toReversed();
      found.push(...page.filter((entry) => fits(entry, query)));
      if (isUp) newest = part.newest;
      else oldest = part.oldest;
      at += isUp ? PAGE : -PAGE;
    }
    return found.slice(0, limit);
  }

  return {
    append: (note) => auditedChanges.make({ note, locks: [], plan: async () => null }),
    list,
    forget: (name) => auditedChanges.forget(name),
    answered: (name) => auditedChanges.answered(name),
  };
}

function fits(entry: AuditEntry, query: Pick<AuditQuery, 'actor' | 'action' | 'target' | 'since'>): boolean {
  const { actor = entry.actor, action = entry.action, since = entry.at } = query;
  return (
    entry.at >= since &&
    actor === entry.actor &&
    action === entry.action &&
    (query.target === undefined || isAbout(entry, query.target))
  );
}

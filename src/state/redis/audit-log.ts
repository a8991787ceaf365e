import { type AuditEntry, type AuditLog, type AuditQuery, isAbout } from '../../keys/operators/audit-log.ts';
import type { AuditEntries } from './audit-entries.ts';
import type { AuditedChanges } from './audited-changes.ts';

const PAGE = 500;

export function auditLogInRedis(
  entries: Pick<AuditEntries, 'read'>,
  auditedChanges: Pick<AuditedChanges<null>, 'make' | 'answered' | 'forget'>,
): AuditLog {
  /** Newest first. */
  async function listDown({ below = Number.MAX_SAFE_INTEGER, limit, ...query }: AuditQuery): Promise<AuditEntry[]> {
    const found: AuditEntry[] = [];
    let { oldest, newest: to } = await entries.read(1, 0);
    to = Math.min(to, below - 1);
    while (to >= oldest && found.length < limit) {
      const part = await entries.read(to - PAGE + 1, to);
      found.push(...part.entries.toReversed().filter((entry) => fits(entry, query)));
      oldest = part.oldest;
      to -= PAGE;
    }
    return found.slice(0, limit);
  }

  /** Oldest first. */
  async function listUp(above: number, { below, limit, ...query }: AuditQuery): Promise<AuditEntry[]> {
    const found: AuditEntry[] = [];
    const last = below === undefined ? Number.MAX_SAFE_INTEGER : below - 1;
    let from = Math.max(above + 1, (await entries.read(1, 0)).oldest);
    for (let newest = from; from <= Math.min(newest, last) && found.length < limit; from += PAGE) {
      const part = await entries.read(from, Math.min(from + PAGE - 1, last));
      found.push(...part.entries.filter((entry) => fits(entry, query)));
      newest = part.newest;
    }
    return found.slice(0, limit);
  }

  return {
    append: (note) => auditedChanges.make({ note, locks: [], plan: async () => null }),
    list: ({ above, ...query }) => (above === undefined ? listDown(query) : listUp(above, query)),
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

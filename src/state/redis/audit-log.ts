import {
  type AuditDraft,
  type AuditEntry,
  type AuditLog,
  type AuditQuery,
  isAbout,
} from '../../operators/audit-log.ts';
import { asked } from './asking.ts';
import type { AuditedChanges } from './audited-changes.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';

/** Entries read at once while the audit log is searched. */
const PAGE = 500;

/** The audit log of all gateways: a list that only ever grows. An entry's number is its place in it. */
export function auditLogInRedis(
  redis: Connection,
  auditedChanges: Pick<AuditedChanges<null>, 'make' | 'answered' | 'forget'>,
): AuditLog {
  return {
    append: (note) => auditedChanges.make({ note, locks: [], plan: async () => null }),
    async list({ below = Number.MAX_SAFE_INTEGER, limit, ...query }) {
      const found: AuditEntry[] = [];
      let end = Math.min(below - 1, await asked(redis.llen(keyOf.audit)));
      while (end > 0 && found.length < limit) {
        const start = Math.max(0, end - PAGE);
        const texts = await asked(redis.lrange(keyOf.audit, String(start), String(end - 1)));
        const entries = texts.map((text, i) => ({ ...(JSON.parse(text) as AuditDraft), number: start + i + 1 }));
        found.push(...entries.reverse().filter((entry) => fits(entry, query)));
        end = start;
      }
      return found.slice(0, limit);
    },
    forget: (name) => auditedChanges.forget(name),
    answered: (name) => auditedChanges.answered(name),
  };
}

function fits(entry: AuditEntry, query: Pick<AuditQuery, 'actor' | 'action' | 'target'>): boolean {
  const { actor = entry.actor, action = entry.action, target = entry.target } = query;
  return actor === entry.actor && action === entry.action && isAbout(entry.target, target);
}

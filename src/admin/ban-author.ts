import type { AuditEntry, AuditLog } from '../keys/operators/audit-log.ts';
import { targetIn } from '../keys/subjects.ts';

const PAGE = 50;
/** Milliseconds; the state has its own clock. */
const CLOCKS_DIFFER = 10_000;

/** Who added or extended the ban that ends at `until` (Unix milliseconds), and why; `null`: automatic. */
export async function banAuthorOf(
  auditLog: AuditLog,
  subject: string,
  until: number,
): Promise<{ by: string; reason: string | null } | null> {
  const failed = new Set<string>();
  for await (const { action, actor, after, requestId } of bansOf(auditLog, subject)) {
    const ban = Object(after) as { until?: string | null; reason?: string };
    if (action.endsWith('.failed')) failed.add(requestId);
    // A matching failed one was made: only its response was lost in an outage.
    else if (typeof ban.until === 'string' && Math.abs(Date.parse(ban.until) - until) < CLOCKS_DIFFER)
      return { by: actor, reason: ban.reason ?? null };
    else if (!failed.has(requestId)) return null;
  }
  return null;
}

/** Newest first. */
async function* bansOf(auditLog: AuditLog, subject: string): AsyncGenerator<AuditEntry> {
  const { target, plan } = targetIn(subject);
  // Bans of an account are distinguished by plan. Older entries have the subject itself as their target.
  const fits = (entry: AuditEntry) =>
    entry.action.startsWith('bans.') &&
    (entry.target === subject ||
      (entry.target === target && (plan === null || (Object(entry.after) as { plan?: string }).plan === plan)));
  for (let below: number | undefined; ; ) {
    const entries = await auditLog.list({ target, below, limit: PAGE });
    yield* entries.filter(fits);
    if (entries.length < PAGE) return;
    below = entries.at(-1)!.number;
  }
}

import type { AuditEntry, AuditLog } from '../keys/operators/audit-log.ts';
import { targetIn } from '../keys/subjects.ts';

/** Entries read at once. */
const PAGE = 50;
/** The state has its own clock: a ban may end so many milliseconds earlier or later than its entry says. */
const CLOCKS_DIFFER = 10_000;

/**
 * Who imposed, or extended, the ban of `subject` that ends at `until` (Unix milliseconds), and why; `null`: the ladder
 * did.
 */
export async function banAuthorOf(
  auditLog: AuditLog,
  subject: string,
  until: number,
): Promise<{ by: string; reason: string | null } | null> {
  const failed = new Set<string>();
  for await (const { action, actor, after, requestId } of bansOf(auditLog, subject)) {
    const ban = Object(after) as { until?: string | null; reason?: string };
    if (action.endsWith('.failed')) failed.add(requestId);
    // A failed one that fits was made: the state was away, and its answer was lost.
    else if (typeof ban.until === 'string' && Math.abs(Date.parse(ban.until) - until) < CLOCKS_DIFFER)
      return { by: actor, reason: ban.reason ?? null };
    else if (!failed.has(requestId)) return null;
  }
  return null;
}

/** Entries about bans and pardons of a subject, newest first. */
async function* bansOf(auditLog: AuditLog, subject: string): AsyncGenerator<AuditEntry> {
  const { target, plan } = targetIn(subject);
  // Bans of an account are told apart by their plan. Older entries have the subject itself as their target.
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

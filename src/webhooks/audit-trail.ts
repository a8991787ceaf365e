import { DAY } from '../common/time.ts';
import type { AuditEntry, AuditLog } from '../keys/operators/audit-log.ts';
import { remembered, type WebhookEvent } from './event.ts';
import type { Outbox } from './outbox.ts';

/** Entries read at once. */
const PART = 500;
const MARK = 'audit';

/**
 * Finds keys that were made or rotated in the audit log, and not where that is done: commands beside a gateway do it too, and an entry
 * is there whoever dies. The gateways read it together: the mark says how far.
 */
export async function readAuditTrail(
  log: Pick<AuditLog, 'list'>,
  outbox: Outbox,
  since: number,
  add: (told: WebhookEvent) => Promise<void>,
): Promise<void> {
  const from = (await outbox.mark(MARK)) ?? (await beginAuditTrail(log, outbox, since));
  for (let at = from; ; ) {
    const entries = await log.list({ above: at, limit: PART });
    const last = entries.at(-1)?.number;
    if (last === undefined) return;
    for (const entry of entries) {
      const found = toldIn(entry);
      if (found !== null) await add(found);
    }
    // Whoever was slower has added nothing twice.
    if (!(await outbox.move(MARK, at, last)) || entries.length < PART) return;
    at = last;
  }
}

/**
 * How far the log was read; up to `since` (Unix milliseconds), if it never was: what was done before anybody wanted to hear of it is no
 * news. The same for a log that ends before that place: it is another one, such as that of a backup.
 */
export async function beginAuditTrail(log: Pick<AuditLog, 'list'>, outbox: Outbox, since: number): Promise<number> {
  const before = await outbox.mark(MARK);
  const [newest] = await log.list({ limit: 1 });
  const end = newest?.number ?? 0;
  if (before !== null && before <= end) return before;
  // The state may have been away since then.
  const news = await log.list({ since, limit: PART });
  const from = (news.at(-1)?.number ?? end + 1) - 1;
  return (await outbox.move(MARK, before, from)) ? from : ((await outbox.mark(MARK)) ?? from);
}

/** A key as the audit log has it. */
interface AuditedKey {
  readonly id: string;
  readonly account: string;
  readonly plan: string;
  readonly expires: string | null;
  readonly imported: boolean;
  readonly rotation: { readonly overlapEnds: string | null } | null;
}

function toldIn({ number, at, actor, action, after }: AuditEntry): WebhookEvent | null {
  const isNew = action === 'keys.create' || action === 'keys.import';
  if (!isNew && action !== 'keys.rotate') return null;
  const { id, account, plan, expires, imported, rotation } = after as AuditedKey;
  const key = { key: id, account, plan };
  const identity = `${number} ${id}`;
  if (isNew) return remembered('key.created', at, identity, at + DAY, { ...key, expires, imported, by: actor });
  return remembered('key.rotated', at, identity, at + DAY, {
    ...key,
    overlapEnds: rotation?.overlapEnds ?? null,
    by: actor,
  });
}

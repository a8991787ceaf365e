import { DAY } from '../common/time.ts';
import type { AuditEntry, AuditLog } from '../records/operators/audit-log.ts';
import type { Outbox } from '../records/outbox.ts';
import { uniqueEvent, type WebhookEvent } from './event.ts';

const PAGE_SIZE = 500;
const MARK = 'audit';

/**
 * In the audit log, as local commands change keys too, and the log survives a crash. The gateways
 * share one position in it.
 */
export async function readAuditTrail(
  log: Pick<AuditLog, 'list'>,
  outbox: Outbox,
  since: number,
  add: (event: WebhookEvent) => Promise<void>,
): Promise<void> {
  const from =
    (await outbox.mark(MARK)) ?? (await beginAuditTrail(log, outbox, since));
  for (let at = from; ; ) {
    const entries = await log.list({ above: at, limit: PAGE_SIZE });
    const last = entries.at(-1)?.number;
    if (last === undefined) return;
    for (const entry of entries) {
      const found = eventOf(entry);
      if (found !== null) await add(found);
    }
    // A slower gateway has added nothing twice.
    if (!(await outbox.move(MARK, at, last)) || entries.length < PAGE_SIZE)
      return;
    at = last;
  }
}

/**
 * `since` (Unix milliseconds) is the start if the log was never read, or ends before the position:
 * it is then another log, for example of a backup.
 */
export async function beginAuditTrail(
  log: Pick<AuditLog, 'list'>,
  outbox: Outbox,
  since: number,
): Promise<number> {
  const before = await outbox.mark(MARK);
  const [newest] = await log.list({ limit: 1 });
  const end = newest?.number ?? 0;
  if (before !== null && before <= end) return before;
  // The state may have been down since then.
  const news = await log.list({ since, limit: PAGE_SIZE });
  const from = (news.at(-1)?.number ?? end + 1) - 1;
  return (await outbox.move(MARK, before, from))
    ? from
    : ((await outbox.mark(MARK)) ?? from);
}

interface AuditedKey {
  readonly id: string;
  readonly account: string;
  readonly plan: string;
  readonly expires: string | null;
  readonly imported: boolean;
  readonly rotation: { readonly overlapEnds: string | null } | null;
}

function eventOf({
  number,
  at,
  actor,
  action,
  after,
}: AuditEntry): WebhookEvent | null {
  const isNew = action === 'keys.create' || action === 'keys.import';
  if (!isNew && action !== 'keys.rotate') return null;
  const { id, account, plan, expires, imported, rotation } =
    after as AuditedKey;
  const key = { key: id, account, plan };
  const identity = `${number} ${id}`;
  if (isNew)
    return uniqueEvent('key.created', at, identity, at + DAY, {
      ...key,
      expires,
      imported,
      by: actor,
    });
  const { overlapEnds = null } = rotation ?? {};
  return uniqueEvent('key.rotated', at, identity, at + DAY, {
    ...key,
    overlapEnds,
    by: actor,
  });
}

import { DAY } from '../common/time.ts';
import type { AuditEntry, AuditLog } from '../records/operators/audit-log.ts';
import type { Outbox } from '../records/outbox.ts';
import { uniqueEvent, type WebhookEvent } from './event.ts';

const PAGE_SIZE = 500;
const MARK = 'audit';

/**
 * In the audit log, as local commands change keys too, and the log survives a crash. The gateways
 * share one position in it. `since` (Unix milliseconds) is the start if the log was never read, or
 * ends before the position: it is then another log, for example of a backup.
 */
export async function readAuditTrail(
  log: Pick<AuditLog, 'list'>,
  outbox: Outbox,
  since: number,
  add: (event: WebhookEvent) => Promise<void>,
): Promise<void> {
  const mark = await outbox.mark(MARK);
  const [newest] = await log.list({ limit: 1 });
  const end = newest?.number ?? 0;
  if (mark === `${end}`) return;
  const isKnown = mark !== null && Number(mark) <= end;
  let entries = isKnown
    ? await log.list({ above: Number(mark), limit: PAGE_SIZE })
    : (await log.list({ since, limit: PAGE_SIZE })).toReversed();
  for (let from = mark; ; ) {
    for (const entry of entries) {
      const found = eventOf(entry);
      if (found !== null) await add(found);
    }
    const last = entries.at(-1)?.number ?? end;
    // A slower gateway has added nothing twice.
    if (!(await outbox.move(MARK, from, `${last}`)) || last >= end) return;
    from = `${last}`;
    entries = await log.list({ above: last, limit: PAGE_SIZE });
  }
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

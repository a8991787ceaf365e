import type { Audit, QueryOf } from '@storegate/console';
import { type Api, CallError } from '../connect/api.ts';
import type { Terminal } from '../terminal.ts';

export interface ExportOptions {
  readonly after?: number | undefined;
  /** RFC 3339. */
  readonly since?: string | undefined;
}

const PAGE = 1_000;

/** Oldest first. Throws CallError if entry `after` does not exist. */
export async function exportAudit(
  { out, err, unread }: Pick<Terminal, 'out' | 'err' | 'unread'>,
  api: Api,
  { after = 0, since }: ExportOptions,
): Promise<void> {
  const list = async (query: QueryOf<'listAudit'>) => await api.call('GET', '/audit', { query });

  if (after > 0) await refuseUnknown();
  // With `since`, the numbers do not show which entries are missing.
  let last = since === undefined ? after : Math.max(after, await warnOfDroppedSince(since));

  for (let next: number | null = last; next !== null && !unread.aborted; ) {
    const page: Audit = await list({ above: next, since, limit: PAGE });
    const [first] = page.entries;
    if (since === undefined && first && first.number > last + 1) warnOfDropped(last + 1, first.number - 1, '');
    out(page.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    last = page.entries.at(-1)?.number ?? last;
    next = page.next;
  }

  async function refuseUnknown(): Promise<void> {
    const newest = (await list({ limit: 1 })).entries[0]?.number ?? 0;
    if (newest >= after) return;
    throw new CallError(
      `Entry ${after} does not exist (newest: ${newest}). This is not the log that you exported from.`,
    );
  }

  /** Returns the number of the last dropped entry. */
  async function warnOfDroppedSince(time: string): Promise<number> {
    const [oldest] = (await list({ above: 0, limit: 1 })).entries;
    if (!oldest || oldest.number <= after + 1) return 0;
    if (Date.parse(oldest.at) >= Date.parse(time))
      warnOfDropped(after + 1, oldest.number - 1, ', and may be of this time');
    return oldest.number - 1;
  }

  function warnOfDropped(from: number, to: number, more: string): void {
    const which = from === to ? `Entry ${from} was` : `Entries ${from} to ${to} were`;
    err(`${which} dropped${more}: the audit log keeps audit.maxEntries entries.\n`);
  }
}

import type { Audit } from '@storegate/console';
import { type Api, CallError } from '../connect/api.ts';
import type { Terminal } from '../terminal.ts';

export interface ExportOptions {
  /** Only entries with a larger number. */
  readonly after?: number | undefined;
  /** Only entries from this time on, RFC 3339. */
  readonly since?: string | undefined;
}

/** Entries asked for at once. */
const PAGE = 1_000;

/**
 * Writes the entries of the audit log, oldest first, each as a line of JSON. Says on the error output which of those that
 * were asked for are gone. Throws CallError where there is no entry `after` yet.
 */
export async function exportAudit(
  { out, err }: Pick<Terminal, 'out' | 'err'>,
  api: Api,
  { after = 0, since }: ExportOptions,
): Promise<void> {
  const list = async (query: Readonly<Record<string, string | number | undefined>>) =>
    await api.call<Audit>('GET', '/audit', { query });

  if (after > 0) await refuseUnknown();
  // Entries from a time on do not say by their numbers which are missing.
  let last = since === undefined ? after : Math.max(after, await warnOfDroppedSince(since));

  for (let next: number | null = last; next !== null; ) {
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
      `the audit log has no entry ${after}, its newest is ${newest}: it is not the one of the last export`,
    );
  }

  /** Answers the number of the last entry that is gone. */
  async function warnOfDroppedSince(time: string): Promise<number> {
    const [oldest] = (await list({ above: 0, limit: 1 })).entries;
    if (!oldest || oldest.number <= after + 1) return 0;
    if (Date.parse(oldest.at) >= Date.parse(time))
      warnOfDropped(after + 1, oldest.number - 1, ', and may be of that time too');
    return oldest.number - 1;
  }

  function warnOfDropped(from: number, to: number, more: string): void {
    const which = from === to ? `entry ${from} is` : `entries ${from} to ${to} are`;
    err(`${which} gone${more}: the audit log keeps its newest entries only (audit.maxEntries)\n`);
  }
}

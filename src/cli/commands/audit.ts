import type { Audit, Entry, ParamsOf } from '@storegate/admin-api';
import {
  call,
  command,
  LOG_OPTIONS,
  memberOf,
  type Options,
  option,
  time,
  wholeNumber,
  withApi,
} from '../command.ts';
import { type Api, CommandError } from '../connect/api.ts';
import { listView } from '../output.ts';
import type { Terminal } from '../terminal.ts';

interface ExportOptions {
  readonly after?: number;
  /** RFC 3339. */
  readonly since?: string;
}

const COLUMNS = [
  'number',
  'time',
  'actor',
  'action',
  'target',
  'change',
  'reason',
] as const;
const PAGE = 1_000;

export const auditCommands = command('audit', 'read the audit log', {
  examples: ['audit list --target acme'],
  commands: [
    call('list', 'list changes, newest first', {
      options: [
        option('--actor <name>', 'filter by token or person'),
        option('--action <action>', 'filter by action, e.g. keys.rotate'),
        option('--target <target>', 'filter by key, account, plan or token'),
        ...LOG_OPTIONS,
      ],
      examples: ['audit list --action keys.rotate'],
      ...memberOf('listAudit', 'entries'),
      view: listView(COLUMNS, 'No audit entries.', (entry: Entry) => ({
        ...entry,
        time: entry.at,
        change: changeIn(entry),
      })),
    }),
    command('export', 'print all changes as lines of JSON, oldest first', {
      options: [
        option(
          '--after <number>',
          'only entries after this number: continues an export',
          wholeNumber,
        ),
        option(
          '--since <time>',
          'only entries since this time, e.g. 2030-01-31T00:00:00Z',
          time,
        ),
      ],
      examples: ['audit export --after 4711 >> audit.ndjson'],
      run: (terminal, options: Options & ExportOptions) =>
        withApi(terminal, options, (api) =>
          exportAudit(terminal, api, options),
        ),
    }),
  ],
});

function changeIn({ before, after }: Entry): string {
  if (before === null) return 'new';
  const [old, now] = [Object(before), Object(after ?? {})] as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  const json = (value: unknown) => JSON.stringify(value ?? null);
  return Object.keys({ ...old, ...now })
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
    .map((name) => `${name}: ${json(old[name])} -> ${json(now[name])}`)
    .join('; ');
}

/** Oldest first. Throws CommandError if entry `after` does not exist. */
async function exportAudit(
  { out, err, unread }: Terminal,
  api: Api,
  { after = 0, since }: ExportOptions,
): Promise<void> {
  const list = (params: ParamsOf<'listAudit'>) =>
    api.call('listAudit', { params });

  if (after > 0) await refuseUnknown();
  // With `since`, the numbers do not show which entries are missing.
  let last =
    since === undefined
      ? after
      : Math.max(after, await warnOfDroppedSince(since));

  for (let next: number | null = last; next !== null && !unread.aborted; ) {
    const page: Audit = await list({ above: next, since, limit: PAGE });
    const [first] = page.entries;
    if (since === undefined && first && first.number > last + 1)
      warnOfDropped(last + 1, first.number - 1, '');
    out(page.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    last = page.entries.at(-1)?.number ?? last;
    next = page.next;
  }

  async function refuseUnknown(): Promise<void> {
    const newest = (await list({ limit: 1 })).entries[0]?.number ?? 0;
    if (newest >= after) return;
    throw new CommandError(
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
    const which =
      from === to ? `Entry ${from} was` : `Entries ${from} to ${to} were`;
    err(
      `${which} dropped${more}: the audit log keeps audit.maxEntries entries.\n`,
    );
  }
}

import type { Entry } from '@storegate/console';
import type { Command } from 'commander';
import { addCall, addCommand, type Options, option, optionsOf, time, wholeNumber, withApi } from '../command.ts';
import { listView } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { type ExportOptions, exportAudit } from './audit-export.ts';

const COLUMNS = ['number', 'time', 'actor', 'action', 'target', 'change', 'reason'] as const;

export function addAudit(program: Command, terminal: Terminal): void {
  const audit = addCommand(program, 'audit', { about: 'read the audit log', examples: ['audit list --target acme'] });

  addCall(terminal, audit, 'list', {
    about: 'list changes, newest first',
    options: [
      option('--actor <name>', 'filter by token or person'),
      option('--action <action>', 'filter by action, e.g. keys.rotate'),
      option('--target <target>', 'filter by key, account, plan or token'),
      option('--below <number>', 'only entries before this number', wholeNumber),
      option('--limit <number>', 'maximum results, up to 1000', wholeNumber, 50),
    ],
    examples: ['audit list --action keys.rotate'],
    ask: async (api, { actor, action, target, below, limit }: Options & Record<string, string>) =>
      (await api.call('GET', '/audit', { query: { actor, action, target, below, limit } })).entries,
    view: listView(
      COLUMNS,
      'No audit entries.',
      ({ number }) => number,
      (entry: Entry) => ({ ...entry, time: entry.at, change: changeIn(entry) }),
    ),
  });

  addCommand(audit, 'export', {
    about: 'print all changes as lines of JSON, oldest first',
    options: [
      option('--after <number>', 'only entries after this number: continues an export', wholeNumber),
      option('--since <time>', 'only entries since this time, e.g. 2030-01-31T00:00:00Z', time),
    ],
    examples: ['audit export --after 4711 >> audit.ndjson'],
  }).action(async (...given) => {
    const { after, since, ...options } = optionsOf<Options & ExportOptions>(given);
    await withApi(terminal, options, (api) => exportAudit(terminal, api, { after, since }));
  });
}

function changeIn({ before, after }: Entry): string {
  if (before === null) return 'new';
  const [old, now] = [Object(before), Object(after ?? {})] as [Record<string, unknown>, Record<string, unknown>];
  const json = (value: unknown) => JSON.stringify(value ?? null);
  return Object.keys({ ...old, ...now })
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
    .map((name) => `${name}: ${json(old[name])} -> ${json(now[name])}`)
    .join('; ');
}

import type { Audit } from '@storegate/console';
import { Command } from 'commander';
import { type Common, connectingCommand, moment, operatorCommand, perform, wholeNumber, withApi } from '../command.ts';
import type { ConnectOptions } from '../connect/connect.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { type ExportOptions, exportAudit } from './audit-export.ts';

const COLUMNS = ['number', 'at', 'actor', 'action', 'target', 'change', 'reason'] as const;
export function auditCommand(terminal: Terminal): Command {
  const audit = new Command('audit').description('read who changed what, and when');
  const list = audit
    .command('list')
    .description('list changes, newest first')
    .option('--actor <name>', 'only what this token or person did')
    .option('--action <action>', 'only such changes, such as keys.rotate')
    .option('--target <target>', 'only changes of this key, account, plan or token')
    .option('--below <number>', 'only entries before this one', wholeNumber)
    .option('--limit <number>', 'how many at the most', wholeNumber, 50);
  operatorCommand(list, 'audit list --action keys.rotate', 'audit list --target key_4fGh… --json').action(
    ({ actor, action, target, below, limit, ...options }: Common & Record<string, string>) =>
      perform(
        terminal,
        options,
        async (api) => {
          const query = { actor, action, target, below, limit };
          return (await api.call<Audit>('GET', '/audit', { query })).entries;
        },
        (rows, colour) =>
          table(
            COLUMNS,
            rows.map((row) => ({ ...row, change: changeIn(row) })),
            colour,
          ),
      ),
  );
  const exporting = audit
    .command('export')
    .description('write all changes that are kept, oldest first, as JSON with one on each line')
    .option('--after <number>', 'only entries after this one: go on after the last one that you have', wholeNumber)
    .option('--since <time>', 'only entries from this time on, such as 2030-01-31T00:00:00Z', moment);
  connectingCommand(exporting, 'audit export > audit.ndjson', 'audit export --after 4711 >> audit.ndjson').action(
    ({ after, since, ...options }: ConnectOptions & ExportOptions) =>
      withApi(terminal, options, (api) => exportAudit(terminal, api, { after, since })),
  );
  return audit;
}

/** The fields that differ. */
function changeIn({ before, after }: Audit['entries'][number]): string {
  const [old, now] = [Object(before ?? {}), Object(after ?? {})] as Record<string, unknown>[];
  if (before === null) return 'new';
  const names = Object.keys({ ...old, ...now }).filter(
    (name) => JSON.stringify(old![name]) !== JSON.stringify(now![name]),
  );
  return names
    .map((name) => `${name}: ${JSON.stringify(old![name] ?? null)} -> ${JSON.stringify(now![name] ?? null)}`)
    .join('; ');
}

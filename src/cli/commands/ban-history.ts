import type { BanEntry, BanHistory } from '@storegate/console';
import { actionInWords, authorInWords, endInWords } from '@storegate/console/words';
import type { Command } from 'commander';
import { parseDuration } from '../../config/units.ts';
import { type Common, moment, operatorCommand, perform, wholeNumber } from '../command.ts';
import { inSentence } from '../peers.ts';
import { type Row, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = ['number', 'at', 'target', 'action', 'by', 'until', 'level', 'ended', 'reason'] as const;

/** Adds `bans history`. */
export function banHistoryCommand(bans: Command, terminal: Terminal): void {
  const command = bans
    .command('history')
    .description('list who was banned and why, and who pardoned or extended it, newest first')
    .argument('[key-or-account]', 'id of a key, or name of an account; all of them without it')
    .option('--since <time>', 'only what came later, such as 30d or 2030-01-31T00:00:00Z', earlier)
    .option('--below <number>', 'only entries before this one', wholeNumber)
    .option('--limit <number>', 'how many at the most', wholeNumber, 50);
  operatorCommand(command, 'bans history --since 30d', 'bans history key_4fGh… --json').action(
    (party: string | undefined, { since, below, limit, ...options }: Common & Record<string, string>) =>
      perform(
        terminal,
        options,
        async (api) => {
          const query = { party, since, below, limit };
          return (await api.call<BanHistory>('GET', '/ban-history', { query })).entries;
        },
        (entries, colour) => table(COLUMNS, entries.map(rowOf), colour),
      ),
  );
}

function rowOf({ actor, after, ended, ...entry }: BanEntry): Row<(typeof COLUMNS)[number]> {
  const { until, level } = after ?? {};
  return {
    ...entry,
    action: actionInWords(entry.action),
    by: authorInWords(actor),
    until,
    level,
    ended: ended && endInWords(ended, inSentence),
  };
}

/** A span before now, or a time, as the API takes it. */
function earlier(text: string): string {
  const span = parseDuration(text);
  if (span !== null) return new Date(Math.max(0, Date.now() - span)).toISOString();
  return moment(text);
}

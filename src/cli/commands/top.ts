import type { Top, TopItem } from '@storegate/console';
import { missingWorkers, NO_GATEWAY, overcount, topError, topTotal } from '@storegate/console/words';
import { Command, Option } from 'commander';
import { type Common, operatorCommand, perform, wholeNumber } from '../command.ts';
import { inSentence, withUnresponsive } from '../peers.ts';
import { type Row, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

interface Options extends Common {
  readonly window: string;
  readonly by: keyof typeof BY;
  readonly limit: number;
}

const WINDOWS = ['minute', 'hour', 'day'];

/** What to count: the names of the options, and of the API. */
const BY = {
  requests: 'requests',
  refused: 'refused',
  'near-limit': 'near-limit',
  strikes: 'strikes',
  deprecated: 'deprecated',
  operations: 'operations',
} as const;

const FIGURES = ['count', 'share', 'too high by', 'last'] as const;
const COLUMNS = {
  keys: ['key', 'account', 'plan', ...FIGURES],
  deprecated: ['key', 'account', 'plan', 'operation', ...FIGURES],
  operations: ['operation', ...FIGURES],
} as const;

export function topCommand(terminal: Terminal): Command {
  const command = new Command('top')
    .description('show who sends, and is refused, most')
    .addOption(new Option('--window <window>', 'how far to look back').choices(WINDOWS).default('hour'))
    .addOption(new Option('--by <what>', 'what to count').choices(Object.keys(BY)).default('requests'))
    .option('--limit <number>', 'how many to show, 256 at most', wholeNumber, 20);
  return operatorCommand(
    command,
    'top',
    'top --window day --by refused',
    'top --by near-limit --limit 5 --json',
  ).action(({ window, by, limit, ...options }: Options) =>
    perform(
      terminal,
      options,
      (api) => api.call<Top>('GET', '/top', { query: { window, by: BY[by], limit } }),
      showTop,
    ),
  );
}

function showTop(top: Top, colour: boolean): string {
  const { by, items, gateways, unresponsive: silent } = top;
  if (gateways.length === 0 && silent.length === 0) return `${NO_GATEWAY}\n`;
  const columns = by === 'operations' || by === 'deprecated' ? COLUMNS[by] : COLUMNS.keys;
  const told = [topTotal(top, inSentence), topError(top), ...missingWorkers(gateways)].filter((line) => line !== null);
  return [table<string>(columns, items.map(rowOf), colour), withUnresponsive(told, top)].join('');
}

function rowOf({ count, error, share, ...rest }: TopItem): Row<string> {
  return {
    ...rest,
    count,
    share: `${(100 * share).toFixed(1)} %`,
    'too high by': overcount(error),
  };
}

import type { Top, TopItem } from '@storegate/console';
import { Command, Option } from 'commander';
import { type Common, operatorCommand, perform, wholeNumber } from '../command.ts';
import { withSilent } from '../fleet.ts';
import { type Row, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

interface Options extends Common {
  readonly window: string;
  readonly by: By;
  readonly limit: number;
}

const WINDOWS = ['minute', 'hour', 'day'];

/** What is counted, in words. */
const COUNTED = {
  requests: 'requests with a valid key',
  refused: 'refused requests with a valid key',
  'near-limit': 'admitted requests with a fifth or less of a window left',
  strikes: 'requests refused to keys that had strikes or were banned',
  deprecated: 'calls of deprecated operations',
  operations: 'refused requests',
} as const;
type By = keyof typeof COUNTED;

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
    .addOption(new Option('--by <what>', 'what to count').choices(Object.keys(COUNTED)).default('requests'))
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
      (api) => api.call<Top>('GET', '/top', { query: { window, by: by === 'near-limit' ? 'near' : by, limit } }),
      (top, colour) => showTop(top, by, colour),
    ),
  );
}

function showTop(top: Top, by: By, colour: boolean): string {
  const { window, since, total, error, items, gateways, silent } = top;
  if (gateways.length === 0 && silent.length === 0) return 'No gateway runs.\n';
  const columns = by === 'operations' || by === 'deprecated' ? COLUMNS[by] : COLUMNS.keys;
  const told = [
    `${total} ${COUNTED[by]} in the last ${window}${since === null ? '' : `, counted since ${since}`}.`,
    ...(error === 0 ? [] : [`Whatever is not counted apart came at most ${error} times.`]),
    ...gateways.filter(({ missing }) => missing > 0).map(({ gateway, missing }) => `${gateway}: ${workers(missing)}.`),
  ];
  return [table<string>(columns, items.map(rowOf), colour), withSilent(told, top)].join('');
}

function rowOf({ count, error, share, ...rest }: TopItem): Row<string> {
  return {
    ...rest,
    count,
    share: `${(100 * share).toFixed(1)} %`,
    'too high by': error === 0 ? 0 : `at most ${error}`,
  };
}

const workers = (count: number): string => `${count} ${count === 1 ? 'worker does' : 'workers do'} not answer`;

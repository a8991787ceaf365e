import type { Top, TopItem } from '@storegate/console';
import { missingGateways, missingWorkers, NO_GATEWAY, overcount, topError, topTotal } from '@storegate/console/words';
import type { Command } from 'commander';
import { addCall, type Options, option, wholeNumber } from '../command.ts';
import { inSentence, type Page } from '../output.ts';
import type { Terminal } from '../terminal.ts';

const BY = ['requests', 'refused', 'near-limit', 'strikes', 'deprecated', 'operations'];

const FIGURES = ['count', 'share', 'too high by', 'last'] as const;
const COLUMNS = {
  keys: ['key', 'account', 'plan', ...FIGURES],
  deprecated: ['key', 'account', 'plan', 'operation', ...FIGURES],
  operations: ['operation', ...FIGURES],
} as const;

export function addTop(program: Command, terminal: Terminal): void {
  addCall(terminal, program, 'top', {
    about: 'show the busiest and most-refused keys',
    options: [
      option('--window <window>', 'last minute, hour or day').choices(['minute', 'hour', 'day']).default('hour'),
      option('--by <count>', 'what to count').choices(BY).default('requests'),
      option('--limit <number>', 'maximum results, up to 256', wholeNumber, 20),
    ],
    examples: ['top --window day --by refused'],
    ask: (api, { window, by, limit }: Options & { window: string; by: string; limit: number }) =>
      api.call('GET', '/top', { query: { window, by, limit } }),
    view: { text: showTop, names: ({ items }) => items.map(({ key, operation }) => key ?? operation) },
  });
}

function showTop(top: Top, page: Page): string {
  const { by, items, gateways, unresponsive } = top;
  if (gateways.length === 0 && unresponsive.length === 0) return `${NO_GATEWAY}\n`;
  const columns = by === 'operations' || by === 'deprecated' ? COLUMNS[by] : COLUMNS.keys;
  const error = topError(top);
  return (
    page.table<string>(columns, items.map(rowOf)) +
    page.notes(
      topTotal(top, inSentence),
      ...(error === null ? [] : [error]),
      ...missingWorkers(gateways),
      ...missingGateways(top),
    )
  );
}

function rowOf({ error, share, ...rest }: TopItem) {
  return { ...rest, share: `${(100 * share).toFixed(1)} %`, 'too high by': overcount(error) };
}

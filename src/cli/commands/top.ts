import { type Top, type TopItem, VALUES } from '@storegate/admin-api';
import { missingGateways, NO_USAGE, topTotal } from '@storegate/admin-api/text';
import { call, operation, option, wholeNumber } from '../command.ts';
import { inSentence, type Page } from '../output.ts';

const FIGURES = ['count', 'share', 'last'] as const;
const TOP_COLUMNS = {
  keys: ['key', 'account', 'plan', ...FIGURES],
  deprecated: ['key', 'account', 'plan', 'operation', ...FIGURES],
  operations: ['operation', ...FIGURES],
} as const;

export const topCommand = call(
  'top',
  'show the busiest and most-refused keys',
  {
    options: [
      option('--window <window>', 'last minute, hour or day')
        .choices(VALUES.window)
        .default('hour'),
      option('--by <count>', 'what to count')
        .choices(VALUES.by)
        .default('requests'),
      option('--api <name>', 'filter by API'),
      option('--limit <number>', 'maximum results, up to 256', wholeNumber, 20),
    ],
    examples: ['top --window day --by refused'],
    ...operation('getTop'),
    view: showTop,
  },
);

function showTop(top: Top, page: Page): string {
  const { by, items, since } = top;
  if (since === null) return `${NO_USAGE}\n`;
  const columns =
    by === 'operations' || by === 'deprecated'
      ? TOP_COLUMNS[by]
      : TOP_COLUMNS.keys;
  return (
    page.table<string>(columns, items.map(itemRow)) +
    page.notes(topTotal(top, inSentence), ...missingGateways(top, inSentence))
  );
}

function itemRow({ share, ...rest }: TopItem) {
  return { ...rest, share: `${(100 * share).toFixed(1)} %` };
}

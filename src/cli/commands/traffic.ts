import {
  type History,
  type HistoryStep,
  type Top,
  type TopItem,
  VALUES,
} from '@storegate/admin-api';
import {
  lostGateway,
  missingGateways,
  NO_USAGE,
  outageInWords,
  topTotal,
} from '@storegate/admin-api/words';
import { call, duration, operation, option, wholeNumber } from '../command.ts';
import { inSentence, type Page } from '../output.ts';

const FIGURES = ['count', 'share', 'last'] as const;
const TOP_COLUMNS = {
  keys: ['key', 'account', 'plan', ...FIGURES],
  deprecated: ['key', 'account', 'plan', 'operation', ...FIGURES],
  operations: ['operation', ...FIGURES],
} as const;

const HISTORY_COLUMNS = [
  'time',
  'requests',
  'limited',
  'banned',
  '2xx',
  '3xx',
  '4xx',
  '5xx',
  'aborted',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'top statuses',
  'outage policy',
];

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
      option('--limit <number>', 'maximum results, up to 256', wholeNumber, 20),
    ],
    examples: ['top --window day --by refused'],
    ...operation('getTop'),
    view: showTop,
  },
);

export const historyCommand = call(
  'history',
  'show traffic of the last 24 hours',
  {
    options: [
      option(
        '--since <time>',
        'start of the period before now, e.g. 12h',
        duration,
        '24h',
      ),
      option('--step <time>', 'period of a row')
        .choices(VALUES.step)
        .default('1h'),
      option('--operation <name>', 'filter by operation of the contract'),
      option('--plan <name>', 'filter by plan'),
    ],
    examples: ['history --since 3h --step 10m --operation listPets'],
    ...operation('getHistory'),
    view: showHistory,
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
    page.notes(topTotal(top, inSentence), ...missingGateways(top))
  );
}

function itemRow({ share, ...rest }: TopItem) {
  return { ...rest, share: `${(100 * share).toFixed(1)} %` };
}

function showHistory(history: History, page: Page): string {
  const { steps, step, since, outages, lost } = history;
  if (since === null) return `${NO_USAGE}\n`;
  return (
    page.table(HISTORY_COLUMNS, steps.map(stepRow), 'No requests.') +
    page.notes(
      `One row per ${step}; the current minute is excluded. A missing row: no gateway was running.`,
      `Complete since ${inSentence(since)}.`,
      ...outages.map((one) => outageInWords(one, inSentence)),
      ...lost.map((one) => lostGateway(one, inSentence)),
      ...missingGateways(history),
    )
  );
}

function stepRow(step: HistoryStep) {
  return {
    ...step,
    ...step.classes,
    time: `${step.at.slice(0, 16)}Z`,
    'p50 ms': step.p50,
    'p95 ms': step.p95,
    'p99 ms': step.p99,
    'top statuses': topStatuses(step.statuses),
    'outage policy': step.outagePolicies,
  };
}

function topStatuses(statuses: HistoryStep['statuses']): string {
  const most = Object.entries(statuses).sort(
    ([, one], [, other]) => other - one,
  );
  return most
    .slice(0, 3)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ');
}

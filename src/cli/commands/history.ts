import type { History, HistoryStep } from '@storegate/console';
import { missingGateways, NO_GATEWAY } from '@storegate/console/words';
import type { Command } from 'commander';
import { addCall, duration, type Options, option } from '../command.ts';
import type { Page } from '../output.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = [
  ...['time', 'requests', 'limited', 'banned', '2xx', '3xx', '4xx', '5xx', 'aborted'],
  ...['p50 ms', 'p95 ms', 'p99 ms', 'top statuses', 'outage policy'],
];

export function addHistory(program: Command, terminal: Terminal): void {
  addCall(terminal, program, 'history', {
    about: 'show traffic of the last 24 hours',
    options: [
      option('--since <time>', 'start of the period before now, e.g. 12h', duration, '24h'),
      option('--step <time>', 'period of a row').choices(['1m', '10m', '1h']).default('1h'),
      option('--operation <name>', 'filter by operation of the contract'),
      option('--plan <name>', 'filter by plan'),
    ],
    examples: ['history --since 3h --step 10m --operation listPets'],
    ask: (api, { since, step, operation, plan }: Options & Record<string, string>) =>
      api.call('GET', '/history', { query: { since, step, operation, plan } }),
    view: { text: showHistory },
  });
}

function showHistory(history: History, page: Page): string {
  const { steps, step, gateways, unresponsive } = history;
  if (gateways.length === 0 && unresponsive.length === 0) return `${NO_GATEWAY}\n`;
  return (
    page.table(COLUMNS, steps.map(rowOf), 'No requests.') +
    page.notes(
      `One row per ${step}; the current minute is excluded. A missing row: no gateway was running.`,
      ...missingGateways(history),
    )
  );
}

function rowOf({ at, classes, statuses, p50, p95, p99, outagePolicies, ...rest }: HistoryStep) {
  return {
    ...rest,
    ...classes,
    time: `${at.slice(0, 16)}Z`,
    aborted: classes.aborted,
    'p50 ms': p50,
    'p95 ms': p95,
    'p99 ms': p99,
    'top statuses': topStatuses(statuses),
    'outage policy': outagePolicies,
  };
}

function topStatuses(statuses: HistoryStep['statuses']): string {
  const most = Object.entries(statuses).sort(([, one], [, other]) => other - one);
  return most
    .slice(0, 3)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ');
}

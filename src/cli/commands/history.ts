import type { History, HistoryStep } from '@storegate/console';
import { NO_GATEWAY } from '@storegate/console/words';
import { Command, Option } from 'commander';
import { type Common, duration, operatorCommand, perform } from '../command.ts';
import { withUnresponsive } from '../peers.ts';
import { type Row, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

interface Options extends Common {
  readonly since: string;
  readonly step: string;
  readonly operation?: string;
  readonly plan?: string;
}

const CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;
const COLUMNS = [
  ...['at', 'requests', 'limited', 'banned', ...CLASSES, 'aborted'],
  ...['p50 ms', 'p95 ms', 'p99 ms', 'top statuses', 'outage policy'],
];

export function historyCommand(terminal: Terminal): Command {
  const command = new Command('history')
    .description('show what happened in the last day')
    .option('--since <time>', 'how far to look back, such as 12h', duration, '24h')
    .addOption(new Option('--step <time>', 'how much one line covers').choices(['1m', '10m', '1h']).default('1h'))
    .option('--operation <name>', 'only this operation of the contract')
    .option('--plan <name>', 'only keys with this plan');
  return operatorCommand(command, 'history', 'history --since 3h --step 10m --operation listPets').action(
    ({ since, step, operation, plan, ...options }: Options) =>
      perform(
        terminal,
        options,
        (api) => api.call<History>('GET', '/history', { query: { since, step, operation, plan } }),
        showHistory,
      ),
  );
}

function showHistory(history: History, colour: boolean): string {
  const { steps, step, gateways, unresponsive: silent } = history;
  if (gateways.length === 0 && silent.length === 0) return `${NO_GATEWAY}\n`;
  const told = [
    `Each line is ${step}, without the minute that runs. A step without a line was not counted: no gateway ran then.`,
  ];
  return [table(COLUMNS, steps.map(rowOf), colour), withUnresponsive(told, history)].join('');
}

function rowOf({ classes, statuses, p50, p95, p99, outagePolicies: alone, ...rest }: HistoryStep): Row<string> {
  return {
    ...rest,
    ...classes,
    aborted: classes.aborted,
    'p50 ms': p50,
    'p95 ms': p95,
    'p99 ms': p99,
    'top statuses': mostOf(statuses),
    'outage policy': alone.join(', '),
  };
}

/** The most frequent statuses of those that are counted by themselves. */
function mostOf(statuses: HistoryStep['statuses']): string {
  const most = Object.entries(statuses).sort(([, one], [, other]) => other - one);
  return most
    .slice(0, 3)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ');
}

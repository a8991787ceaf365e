import type { Operations, Usage, UsageReport } from '@storegate/admin-api';
import {
  droppedRequests,
  lostGateway,
  lostProcesses,
  missingGateways,
  NO_USAGE,
  recordText,
} from '@storegate/admin-api/text';
import { InvalidArgumentError } from 'commander';
import { HOUR, MINUTE } from '../../common/time.ts';
import {
  call,
  command,
  dateOrTime,
  memberOf,
  type Options,
  option,
  wholeNumber,
  withApi,
} from '../command.ts';
import type { Api } from '../connect/api.ts';
import { inSentence, type Page, print, type View } from '../output.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = [
  'subject',
  'window',
  'limit',
  'used',
  'remaining',
  'resets',
  'banned',
  'strikes',
] as const;

const BY =
  'what each row is of: day, hour, minute, account, key, plan, api, operation, status or code, several with commas';

type ReportOptions = Omit<Operations['getUsageReport']['query'], 'format'> & {
  readonly month?: Readonly<Partial<Record<'from' | 'to', string>>>;
};

export const usageCommands = command(
  'usage',
  'show and adjust usage counters',
  {
    examples: ['usage get acme'],
    commands: [
      command('report', 'sum up the usage of a period', {
        options: [
          option(
            '--month <month>',
            'a month in UTC, e.g. 2030-01; default: this month',
            month,
          ).conflicts(['from', 'to']),
          option(
            '--from <time>',
            'begin of the period, e.g. 2030-01-15 or a whole hour of UTC, in place of a month; by minute the default is an hour ago',
            dateOrTime,
          ),
          option(
            '--to <time>',
            'end of the period, exclusive; default: now',
            dateOrTime,
          ),
          option('--by <list>', BY).default('account'),
          option('--account <name>', 'filter by account'),
          option('--key <id>', 'filter by key'),
          option('--plan <name>', 'filter by plan'),
          option('--api <name>', 'filter by API'),
          option('--operation <name>', 'filter by operation of the contract'),
          option('--status <status>', 'filter by status of the response'),
          option('--deprecated', 'only calls of deprecated operations'),
          option(
            '--partial',
            'while Redis is down, what the gateway has not stored yet',
          ),
        ],
        examples: [
          'usage report --month 2030-01 --by account,operation -o csv',
        ],
        run: (terminal, options: Options, _args, made) =>
          withApi(terminal, options, (api) =>
            printReport(terminal, api, options, made.opts()),
          ),
      }),
      call('get <key-or-account>', 'show the counters of a key or account', {
        examples: ['usage get key_4fGh…'],
        ...memberOf('getUsage', 'usage'),
        view: viewWith(({ subject, history }) =>
          history && (history.bans > 0 || history.lifted)
            ? `Bans of ${subject}: ${recordText(history, inSentence)}.`
            : null,
        ),
      }),
      call(
        'reset <key-or-account>',
        'reset all counters; strikes and bans stay',
        {
          examples: ['usage reset acme'],
          ...memberOf('resetUsage', 'usage'),
          view: viewWith(banIn),
        },
      ),
      call(
        'grant <key-or-account>',
        'refund units in the current windows, at most the units used',
        {
          options: [
            option(
              '--units <number>',
              'units to refund',
              wholeNumber,
            ).makeOptionMandatory(),
            option(
              '--window <name>',
              'one window, e.g. day, day@notes or login:minute; default: all windows',
            ),
          ],
          examples: ['usage grant key_4fGh… --units 500 --window day'],
          ...memberOf('grantUsage', 'usage'),
          view: viewWith(banIn),
        },
      ),
    ],
  },
);

function month(text: string): ReportOptions['month'] {
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined)
    throw new InvalidArgumentError('Use a year and a month, such as 2030-01.');
  const next = new Date(Date.UTC(Number(year), Number(number)));
  return { from: `${text}-01`, to: next.toISOString().slice(0, 10) };
}

async function printReport(
  terminal: Terminal,
  api: Api,
  options: Options,
  { month: period = {}, ...filters }: ReportOptions,
) {
  const recent = isByMinute(filters) ? { from: hourAgo() } : {};
  const query = { ...recent, ...filters, ...period };
  if (options.json || options.output !== 'csv') {
    const report = await api.call('getUsageReport', { params: query });
    return print(terminal, options, report, reportTable);
  }
  const headers = await api.download(
    '/usage/report',
    { ...query, format: 'csv' },
    terminal.out,
  );
  if (headers['x-usage-partial'] === 'true')
    terminal.err(
      'Redis is down: only what one gateway has not stored yet is included.\n',
    );
  const [dropped, lost, requests] = ['dropped', 'lost', 'lost-requests'].map(
    (name) => Number(headers[`x-usage-${name}`]),
  ) as [number, number, number];
  if (dropped > 0) terminal.err(`${droppedRequests(dropped)}\n`);
  if (lost > 0) terminal.err(`${lostProcesses(lost, requests)}\n`);
}

const isByMinute = ({ by = '', from }: ReportOptions): boolean =>
  from === undefined && by.split(',').includes('minute');

/** Minutes are kept for two hours, so a month is not their default. */
const hourAgo = (): string =>
  new Date(Math.floor((Date.now() - HOUR) / MINUTE) * MINUTE).toISOString();

function reportTable(
  { rows, since, lost, dropped, ...report }: UsageReport,
  page: Page,
): string {
  const missing = dropped > 0 ? [droppedRequests(dropped)] : [];
  return (
    page.table(
      Object.keys(rows[0] ?? {}),
      (rows as unknown as readonly Row[]).map(withMoments),
      NO_USAGE,
    ) +
    page.notes(
      `From ${report.from} to ${report.to}${since === null || report.isolated !== null ? '' : `, complete since ${inSentence(since)}`}.`,
      ...lost.map((one) => lostGateway(one, inSentence)),
      ...missing,
      ...missingGateways(report, inSentence),
    )
  );
}

type Row = Readonly<Record<string, unknown>>;

/** The name of a row, such as 2030-01-15T10:00Z, in place of "3h ago". */
const withMoments = (row: Row): Row => ({
  ...row,
  ...Object.fromEntries(
    ['hour', 'minute']
      .filter((name) => name in row)
      .map((name) => [name, `${row[name]}`.replace(/:00\.000Z$/, 'Z')]),
  ),
});

export function windowsTable(usage: readonly Usage[], page: Page): string {
  const rows = usage.flatMap(({ windows, ...rest }) =>
    windows.map(({ name, ...window }) => ({
      ...rest,
      ...window,
      window: name,
    })),
  );
  return page.table(COLUMNS, rows, 'No counters.');
}

function viewWith(note: (one: Usage) => string | null): View<readonly Usage[]> {
  return (usage, page) =>
    windowsTable(usage, page) +
    page.notes(...usage.map(note).filter((line) => line !== null));
}

function banIn({ subject, banned }: Usage): string | null {
  return banned === null
    ? null
    : `${subject} stays banned until ${inSentence(banned)}. To end the ban, run "storegate bans lift".`;
}

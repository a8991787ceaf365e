import type {
  LiveEvent,
  LiveNow,
  LiveRefused,
  ParamsOf,
  RefusedRequest,
  Requests,
} from '@storegate/admin-api';
import { missingGateways, NO_GATEWAY } from '@storegate/admin-api/words';
import {
  command,
  type Options,
  option,
  pastTime,
  wholeNumber,
  withApi,
} from '../command.ts';
import { CommandError } from '../connect/api.ts';
import { print, safeText, type View } from '../output.ts';
import type { Terminal } from '../terminal.ts';

type Filters = Options & ParamsOf<'listRequests'> & { readonly follow?: true };

const COLUMNS = [
  'time',
  'status',
  'code',
  'operation',
  'key',
  'account',
  'address',
  'repeated',
  'request id',
] as const;
const WIDTHS = [24, 6, 24, 16, 20, 12, 15, 8, 36];

export const requestsCommand = command(
  'requests',
  'list recent refused and failed requests, newest first',
  {
    options: [
      option('--key <id>', 'filter by key'),
      option('--account <name>', 'filter by account'),
      option('--code <code>', 'filter by error code, e.g. rate_limit_exceeded'),
      option(
        '--since <time>',
        'begun since this time: 30m or 2030-01-31T00:00:00Z',
        pastTime,
      ),
      option(
        '--until <time>',
        'begun before this time: 10m or 2030-01-31T00:00:00Z',
        pastTime,
      ),
      option(
        '--limit <number>',
        'maximum results per page, up to 200',
        wholeNumber,
        20,
      ),
      option('--after <page>', 'the next page, as the previous one names it'),
      option(
        '--follow',
        'print new requests until stopped; with --json one per line',
      ),
    ],
    examples: [
      'requests --account acme --since 1h',
      'requests --code key_banned --follow',
    ],
    run: (terminal, options: Filters) =>
      withApi(terminal, options, async (api) => {
        const { key, account, code, since, until, limit, after, follow } =
          options;
        if (!follow) {
          const params = { key, account, code, since, until, limit, after };
          const requests = await api.call('listRequests', { params });
          return await print(terminal, options, requests, VIEW);
        }
        const stop = AbortSignal.any([terminal.stop, terminal.unread]);
        await api.follow(
          '/live',
          { key, account, code },
          printerOf(terminal, options),
          stop,
        );
      }),
  },
);

const VIEW: View<Requests> = {
  text(answer, page) {
    const rows = answer.requests.map(rowOf);
    return (
      page.table(COLUMNS, rows, 'No requests.') +
      page.notes(
        ...(rows.length > 0
          ? ['For details, run "storegate explain <request-id>".']
          : []),
        ...(rows.some(({ repeated }) => repeated !== null)
          ? ['repeated: identical requests before it, not kept.']
          : []),
        ...(answer.next === null
          ? []
          : [`For earlier ones, add --after ${answer.next}.`]),
        ...missingGateways(answer),
      )
    );
  },
  names: ({ requests }) => requests.map(({ id }) => id),
};

function rowOf({
  id,
  at,
  status,
  code,
  operation,
  key,
  address,
  repeated,
}: RefusedRequest) {
  return {
    time: at,
    status,
    code,
    operation,
    address,
    'request id': id,
    key: key?.id,
    account: key?.account,
    repeated: repeated === 0 ? null : repeated,
  };
}

/**
 * Prints events, oldest first; notes go to standard error. It throws CommandError if no gateway is
 * running.
 */
function printerOf({ out, err }: Terminal, { json, output }: Options) {
  const isJson = json === true || output === 'json';
  let notes = '';
  if (!isJson)
    out(line(Object.fromEntries(COLUMNS.map((name) => [name, name]))));

  function printRefused({ requests, omitted }: LiveRefused): void {
    for (const one of requests.toReversed())
      out(isJson ? `${JSON.stringify(one)}\n` : line(rowOf(one)));
    if (omitted > 0) err(`${omitted} more at the same time, not listed.\n`);
  }

  function printChangedNotes(now: LiveNow): void {
    if (
      now.gateways.length === 0 &&
      now.unresponsive.length === 0 &&
      now.isolated === null
    )
      throw new CommandError(NO_GATEWAY);
    const changed = missingGateways(now).map((note) => `${safeText(note)}\n`);
    if (changed.join('') !== notes) err(changed.join(''));
    notes = changed.join('');
  }

  return ({ name, data }: LiveEvent): void => {
    if (name === 'refused') printRefused(data);
    else printChangedNotes(data);
  };
}

function line(row: Readonly<Record<string, unknown>>): string {
  const cells = COLUMNS.map((name, i) =>
    safeText(row[name]).padEnd(WIDTHS[i]!),
  );
  return `${cells.join('  ').trimEnd()}\n`;
}

import { setTimeout as pause } from 'node:timers/promises';
import type {
  KeyCall,
  ParamsOf,
  RefusedRequest,
  Requests,
} from '@storegate/admin-api';
import {
  missingGateways,
  NO_GATEWAY,
  POLL_INTERVAL,
} from '@storegate/admin-api/text';
import {
  command,
  type Options,
  option,
  pastTime,
  wholeNumber,
  withApi,
} from '../command.ts';
import { type Api, CommandError } from '../connect/api.ts';
import { inSentence, print, safeText, type View } from '../output.ts';
import type { Terminal } from '../terminal.ts';

type Filters = ParamsOf<'listRequests'> & { readonly follow?: true };

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
const CALL_COLUMNS = [
  'time',
  'status',
  'operation',
  'address',
  'ms',
  'gateway',
] as const;

export const requestsCommand = command(
  'requests',
  'list recent refused and failed requests, newest first',
  {
    options: [
      option(
        '--key <id>',
        'filter by key; lists its last successful calls too',
      ),
      option('--account <name>', 'filter by account'),
      option('--api <name>', 'filter by API'),
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
    run: (terminal, options: Options, _args, made) =>
      withApi(terminal, options, async (api) => {
        const { follow, ...params } = made.opts<Filters>();
        if (!follow) {
          const requests = await api.call('listRequests', { params });
          return print(terminal, options, requests, VIEW);
        }
        await printNew(api, terminal, { ...options, ...params });
      }),
  },
);

const VIEW: View<Requests> = (response, page) => {
  const rows = response.requests.map(rowOf);
  return (
    (response.calls.length > 0
      ? `${page.table(CALL_COLUMNS, response.calls.map(callRow))}\n`
      : '') +
    page.table(COLUMNS, rows, 'No refused or failed requests.') +
    page.notes(
      ...(rows.length > 0
        ? ['For details, run "storegate explain <request-id>".']
        : []),
      ...(rows.some(({ repeated }) => repeated !== null)
        ? ['repeated: identical requests before it, not kept.']
        : []),
      ...(response.next === null
        ? []
        : [`For earlier ones, add --after ${response.next}.`]),
      ...missingGateways(response, inSentence),
    )
  );
};

const callRow = ({ at, method, operation, duration, ...call }: KeyCall) => ({
  ...call,
  time: at,
  operation: `${method} ${operation}`,
  ms: duration,
});

function rowOf({ id, at, key, repeated, ...request }: RefusedRequest) {
  return {
    ...request,
    time: at,
    'request id': id,
    key: key?.id,
    account: key?.account,
    repeated: repeated === 0 ? null : repeated,
  };
}

const MOST = 200;

/**
 * Prints new requests until the command is stopped, oldest first; notes go to standard error.
 * Throws CommandError, also if no gateway is running.
 */
async function printNew(
  api: Api,
  { out, err, stop, unread }: Terminal,
  { key, account, api: ofApi, code, json, output }: Filters & Options,
): Promise<void> {
  const isJson = json === true || output === 'json';
  const signal = AbortSignal.any([stop, unread]);
  const titles = Object.fromEntries(COLUMNS.map((name) => [name, name]));
  if (!isJson) out(line(titles));
  let newer: string | null = null;
  let notes = '';
  while (!signal.aborted) {
    // The first page has old requests.
    const page: ParamsOf<'listRequests'> =
      newer === null ? { limit: 1 } : { limit: MOST, newer };
    const params = { key, account, api: ofApi, code, ...page };
    const response: Requests | null = await unlessAborted(
      api.call('listRequests', { params, signal }),
      signal,
    );
    if (response === null) return;
    const { requests, next, newest, unresponsive, isolated } = response;
    if (newest === null && unresponsive.length === 0 && isolated === null)
      throw new CommandError(NO_GATEWAY);
    const before = notes;
    notes = missingGateways(response, inSentence)
      .map((note) => safeText(note))
      .join('\n');
    if (notes !== before && notes !== '') err(`${notes}\n`);
    if (newer !== null) {
      for (const one of requests.toReversed())
        out(isJson ? `${JSON.stringify(one)}\n` : line(rowOf(one)));
      if (next !== null) err('There were more at the same time, not listed.\n');
    }
    newer = newest ?? newer;
    await unlessAborted(pause(POLL_INTERVAL, null, { signal }), signal);
  }
}

/** `null`: it was aborted. */
async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

function line(row: Readonly<Record<string, unknown>>): string {
  const cells = COLUMNS.map((name, i) =>
    safeText(row[name]).padEnd(WIDTHS[i]!),
  );
  return `${cells.join('  ').trimEnd()}\n`;
}

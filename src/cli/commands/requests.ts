import type { LiveNow, LiveRefused, RefusedRequest, Requests } from '@storegate/console';
import { NO_GATEWAY } from '@storegate/console/words';
import { Command } from 'commander';
import { type Common, operatorCommand, perform, wholeNumber, withApi } from '../command.ts';
import { CallError } from '../connect/api.ts';
import { withUnresponsive } from '../peers.ts';
import { table, textOf } from '../table.ts';
import type { Terminal } from '../terminal.ts';

interface Options extends Common {
  readonly key?: string;
  readonly account?: string;
  readonly code?: string;
  readonly limit?: number;
  readonly follow?: true;
}

const COLUMNS = ['at', 'status', 'code', 'operation', 'key', 'account', 'address', 'repeated', 'request id'] as const;
/** Characters of columns when nobody knows what will come. */
const WIDTHS = {
  at: 24,
  status: 6,
  code: 24,
  operation: 16,
  key: 20,
  account: 12,
  address: 15,
  repeated: 8,
  'request id': 36,
};

export function requestsCommand(terminal: Terminal): Command {
  const command = new Command('requests')
    .description('list the last refusals and failures that gateways have in memory, newest first')
    .option('--key <id>', 'only of this key')
    .option('--account <name>', 'only of this account')
    .option('--code <code>', 'only with this code, such as rate_limit_exceeded')
    .option('--limit <number>', 'at most so many, up to 200; 20 without it', wholeNumber)
    .option('--follow', 'print new ones as they come, until it is stopped; with --json each in a line');
  return operatorCommand(command, 'requests --account acme', 'requests --code key_banned --follow').action(
    ({ key, account, code, limit = 20, follow, ...options }: Options) =>
      follow
        ? withApi(terminal, options, (api) =>
            api.follow(
              '/live',
              { key, account, code },
              new Tail(terminal, options.json === true).heard,
              AbortSignal.any([terminal.stop, terminal.unread]),
            ),
          )
        : perform(
            terminal,
            options,
            (api) => api.call<Requests>('GET', '/requests', { query: { key, account, code, limit } }),
            showRequests,
          ),
  );
}

function showRequests(answer: Requests, colour: boolean): string {
  const rows = answer.requests.map(rowOf);
  const remarks = [
    ...(rows.length > 0 ? ['storegate explain <request-id> shows the details of one request.'] : []),
    ...(rows.some(({ repeated }) => repeated !== null)
      ? ['repeated: equal requests before it that were not kept.']
      : []),
  ];
  return [table(COLUMNS, rows, colour), withUnresponsive(remarks, answer)].join('');
}

function rowOf({ id, at, status, code, operation, key, address, repeated: more }: RefusedRequest) {
  return {
    ...{ at, status, code, operation, address, 'request id': id },
    key: key?.id,
    account: key?.account,
    repeated: more === 0 ? null : more,
  };
}

/** Prints refusals as they come, the oldest first; remarks go to standard error. */
class Tail {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  #remarks = '';

  constructor(terminal: Terminal, json: boolean) {
    this.#terminal = terminal;
    this.#json = json;
    if (!json) terminal.out(line(Object.fromEntries(COLUMNS.map((name) => [name, name]))));
  }

  /** Throws CallError where no gateway runs. */
  readonly heard = (event: string, data: unknown): void => {
    if (event === 'refused') this.#refused(data as LiveRefused);
    else this.#now(data as LiveNow);
  };

  #refused({ requests, omitted: left }: LiveRefused): void {
    const { out, err } = this.#terminal;
    for (const one of requests.toReversed()) out(this.#json ? `${JSON.stringify(one)}\n` : line(rowOf(one)));
    if (left > 0) err(`${left} more came at the same time and ${left === 1 ? 'is' : 'are'} not listed.\n`);
  }

  /** Each once, not every two seconds. */
  #now(now: LiveNow): void {
    const remarks = withUnresponsive([], now);
    if (now.gateways.length === 0 && remarks === '') throw new CallError(NO_GATEWAY);
    if (remarks !== this.#remarks) this.#terminal.err(remarks);
    this.#remarks = remarks;
  }
}

function line(row: Readonly<Record<string, unknown>>): string {
  return `${COLUMNS.map((name) => textOf(row[name]).padEnd(WIDTHS[name]))
    .join('  ')
    .trimEnd()}\n`;
}

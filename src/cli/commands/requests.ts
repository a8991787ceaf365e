import { Command } from 'commander';
import { type Common, operatorCommand, perform, wholeNumber } from '../command.ts';
import { type OfFleet, withSilent } from '../fleet.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

interface Requests extends OfFleet {
  readonly requests: readonly Refused[];
}

interface Refused {
  readonly id: string;
  readonly at: string;
  readonly status: number;
  readonly code: string | null;
  readonly operation: string;
  readonly key: { readonly id: string; readonly account: string } | null;
  readonly address: string;
  readonly more: number;
}

interface Options extends Common {
  readonly key?: string;
  readonly account?: string;
  readonly code?: string;
  readonly limit?: number;
}

const COLUMNS = ['at', 'status', 'code', 'operation', 'key', 'account', 'address', 'more', 'request'] as const;

export function requestsCommand(terminal: Terminal): Command {
  const command = new Command('requests')
    .description('list the last refusals and failures that gateways have in memory, newest first')
    .option('--key <id>', 'only of this key')
    .option('--account <name>', 'only of this account')
    .option('--code <code>', 'only with this code, such as rate_limit_exceeded')
    .option('--limit <number>', 'at most so many, up to 200; 20 without it', wholeNumber);
  return operatorCommand(command, 'requests --account acme', 'requests --code key_banned --limit 5').action(
    ({ key, account, code, limit = 20, ...options }: Options) =>
      perform(
        terminal,
        options,
        (api) => api.call('GET', '/requests', { query: { key, account, code, limit } }) as Promise<Requests>,
        showRequests,
      ),
  );
}

function showRequests(answer: Requests, colour: boolean): string {
  const rows = answer.requests.map(({ id, at, status, code, operation, key, address, more }) => ({
    ...{ at, status, code, operation, address, request: id },
    key: key?.id,
    account: key?.account,
    more: more === 0 ? null : more,
  }));
  const remarks = [
    ...(rows.length > 0 ? ['storegate explain <request> tells more of one of them.'] : []),
    ...(rows.some(({ more }) => more !== null) ? ['more: equal ones before it that were not kept.'] : []),
  ];
  return [table(COLUMNS, rows, colour), withSilent(remarks, answer)].join('');
}

import type { Account, Key } from '@storegate/console';
import { Command } from 'commander';
import { type Common, everyPage, operatorCommand, paragraph, perform } from '../command.ts';
import { card, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = ['account', 'keys', 'active', 'plans', 'limits'] as const;
const KEY_COLUMNS = ['id', 'plan', 'limits', 'status', 'created', 'expires', 'lastUsed', 'label'] as const;

export function accountsCommand(terminal: Terminal): Command {
  const accounts = new Command('accounts').description('look at the parties that own keys');

  operatorCommand(accounts.command('list').description('list accounts'), 'accounts list').action((options: Common) =>
    perform(
      terminal,
      options,
      (api) => everyPage<Account>(api, '/accounts', 'accounts'),
      (rows, colour) =>
        table(
          COLUMNS,
          rows.map((row) => ({ ...row, plans: row.plans.join(', ') })),
          colour,
        ),
    ),
  );
  operatorCommand(
    accounts.command('get').description('show one account').argument('<account>', 'name of the account'),
    'accounts get acme',
  ).action((account: string, options: Common) =>
    perform(terminal, options, (api) => api.call<Account>('GET', `/accounts/${paragraph(account)}`), card),
  );
  operatorCommand(
    accounts.command('keys').description('list the keys of an account').argument('<account>', 'name of the account'),
    'accounts keys acme --json',
  ).action((account: string, options: Common) =>
    perform(
      terminal,
      options,
      (api) => everyPage<Key>(api, `/accounts/${paragraph(account)}/keys`, 'keys'),
      (rows, colour) => table(KEY_COLUMNS, rows, colour),
    ),
  );
  return accounts;
}

import type { Account } from '@storegate/console';
import type { Command } from 'commander';
import { addCall, addCommand, everyPage, segment } from '../command.ts';
import { cardView, listView } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { KEYS } from './keys.ts';

export function addAccounts(program: Command, terminal: Terminal): void {
  const accounts = addCommand(program, 'accounts', { about: 'list accounts', examples: ['accounts get acme'] });

  addCall(terminal, accounts, 'list', {
    about: 'list accounts',
    examples: ['accounts list'],
    ask: (api) =>
      everyPage(
        (query) => api.call('GET', '/accounts', { query }),
        ({ accounts }) => accounts,
      ),
    view: listView(['account', 'keys', 'active', 'plans', 'limits'], 'No accounts.', ({ account }: Account) => account),
  });
  addCall(terminal, accounts, 'get <account>', {
    about: 'show an account',
    examples: ['accounts get acme'],
    ask: (api, _options, account: string) => api.call('GET', `/accounts/${segment(account)}`),
    view: cardView(({ account }: Account) => account),
  });
  addCall(terminal, accounts, 'keys <account>', {
    about: 'list the keys of an account',
    examples: ['accounts keys acme --json'],
    ask: (api, _options, account: string) =>
      everyPage(
        (query) => api.call('GET', `/accounts/${segment(account)}/keys`, { query }),
        ({ keys }) => keys,
      ),
    view: KEYS,
  });
}

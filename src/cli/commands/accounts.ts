import type { Account } from '@storegate/console';
import { call, command, everyPage, segment } from '../command.ts';
import { cardView, listView } from '../output.ts';
import { KEYS } from './keys.ts';

const nameOf = ({ account }: Account) => account;

export const accountCommands = command('accounts', 'list accounts', {
  examples: ['accounts get acme'],
  commands: [
    call('list', 'list accounts', {
      ask: (api) => everyPage('accounts', (query) => api.call('GET', '/accounts', { query })),
      view: listView(['account', 'keys', 'active', 'plans', 'limits'], 'No accounts.', nameOf),
    }),
    call('get <account>', 'show an account', {
      examples: ['accounts get acme'],
      ask: (api, _options, account) => api.call('GET', `/accounts/${segment(account)}`),
      view: cardView(nameOf),
    }),
    call('keys <account>', 'list the keys of an account', {
      examples: ['accounts keys acme --json'],
      ask: (api, _options, account) =>
        everyPage('keys', (query) =>
          api.call('GET', `/accounts/${segment(account)}/keys`, { query }),
        ),
      view: KEYS,
    }),
  ],
});

import type { Account } from '@storegate/admin-api';
import { call, command, everyPage } from '../command.ts';
import { cardView, listView } from '../output.ts';
import { KEYS } from './keys.ts';

const nameOf = ({ account }: Account) => account;

export const accountCommands = command('accounts', 'list accounts', {
  examples: ['accounts get acme'],
  commands: [
    call('list', 'list accounts', {
      ask: (api) =>
        everyPage('accounts', (params) => api.call('listAccounts', { params })),
      view: listView(
        ['account', 'keys', 'active', 'plans', 'limits'],
        'No accounts.',
        nameOf,
      ),
    }),
    call('get <account>', 'show an account', {
      examples: ['accounts get acme'],
      ask: (api, _options, account) =>
        api.call('getAccount', { params: { account } }),
      view: cardView(nameOf),
    }),
    call('keys <account>', 'list the keys of an account', {
      examples: ['accounts keys acme --json'],
      ask: (api, _options, account) =>
        everyPage('keys', (page) =>
          api.call('listKeysOfAccount', { params: { account, ...page } }),
        ),
      view: KEYS,
    }),
  ],
});

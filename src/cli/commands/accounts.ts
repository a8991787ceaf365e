import type { Account, Key } from '@storegate/admin-api';
import { call, command, everyPage, operation } from '../command.ts';
import { listView, showCard } from '../output.ts';
import { KEYS } from './keys.ts';

export const accountCommands = command('accounts', 'list accounts', {
  examples: ['accounts get acme'],
  commands: [
    call('list', 'list accounts', {
      ...everyPage<Account>('listAccounts', 'accounts'),
      view: listView(
        ['account', 'keys', 'active', 'plans', 'limits'],
        'No accounts.',
      ),
    }),
    call('get <account>', 'show an account', {
      examples: ['accounts get acme'],
      ...operation('getAccount'),
      view: showCard,
    }),
    call('keys <account>', 'list the keys of an account', {
      examples: ['accounts keys acme --json'],
      ...everyPage<Key>('listKeysOfAccount', 'keys'),
      view: KEYS,
    }),
  ],
});

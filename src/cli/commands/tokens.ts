import { ROLES } from '@storegate/admin-api';
import { call, command, memberOf, operation, option } from '../command.ts';
import { doneView, listView } from '../output.ts';

const FIRST =
  'It is the first token: the console and the admin API now need one. To get in, open /console/ on the admin port and sign in with it.';
const EXAMPLE = 'tokens create ci-deploy --role operate';

export const tokenCommands = command('tokens', 'manage admin tokens', {
  examples: [EXAMPLE],
  commands: [
    call('create <name>', 'create a token (it is shown only once)', {
      options: [
        option(
          '--role <role>',
          'read: view; operate: change keys, bans and usage; admin: everything',
        )
          .choices(ROLES)
          .makeOptionMandatory(),
      ],
      localOptions: [
        option('--token-only', 'print only the token').implies({ quiet: true }),
      ],
      details: 'A name has lowercase letters, digits and dashes.',
      examples: [EXAMPLE],
      ...operation('createToken', (own: object, name) => ({ ...own, name })),
      view: ({ token, name, role, first }, page) => {
        const notes = [
          `This is ${name}, role ${role}. The token is not shown again.`,
        ];
        return `${token}\n${page.notes(...notes, ...(first ? [FIRST] : []))}`;
      },
    }),
    call('list', 'list tokens, without secrets', {
      ...memberOf('listTokens', 'tokens'),
      view: listView(['name', 'role', 'created'], 'No tokens.'),
    }),
    call('revoke <name>', 'revoke a token', {
      examples: ['tokens revoke ci-deploy'],
      ...operation('revokeToken'),
      view: doneView(({ name }) => `${name} is revoked.`),
    }),
  ],
});

import type { Role, Token } from '@storegate/console';
import type { Command } from 'commander';
import { addCall, addCommand, type Options, option, segment } from '../command.ts';
import { doneView, listView } from '../output.ts';
import type { Terminal } from '../terminal.ts';

const nameOf = ({ name }: Pick<Token, 'name'>) => name;

export function addTokens(program: Command, terminal: Terminal): void {
  const example = 'tokens create ci-deploy --role operate';
  const tokens = addCommand(program, 'tokens', { about: 'manage admin tokens', examples: [example] });

  addCall(terminal, tokens, 'create <name>', {
    about: 'create a token (it is shown only once)',
    options: [
      option('--role <role>', 'read: view; operate: change keys, bans and usage; admin: everything')
        .choices(['read', 'operate', 'admin'])
        .makeOptionMandatory(),
      option('--token-only', 'print only the token').implies({ quiet: true }),
    ],
    changes: true,
    idempotent: true,
    details: 'A name has lowercase letters, digits and dashes.',
    examples: [example],
    ask: (api, { role, idempotencyKey }: Options & { role: Role }, name: string) =>
      api.call('POST', '/tokens', { body: { name, role }, idempotencyKey }),
    view: {
      text: ({ token, name, role }, page) =>
        `${token}\n${page.notes(`This is ${name}, role ${role}. The token is not shown again.`)}`,
      names: (token) => [nameOf(token)],
    },
  });
  addCall(terminal, tokens, 'list', {
    about: 'list tokens, without secrets',
    examples: ['tokens list'],
    ask: async (api) => (await api.call('GET', '/tokens')).tokens,
    view: listView(['name', 'role', 'created'], 'No tokens.', nameOf),
  });
  addCall(terminal, tokens, 'revoke <name>', {
    about: 'revoke a token',
    changes: true,
    examples: ['tokens revoke ci-deploy'],
    ask: (api, _options, name: string) => api.call('DELETE', `/tokens/${segment(name)}`),
    view: doneView(({ name }) => `${name} is revoked.`, nameOf),
  });
}

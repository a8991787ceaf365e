import type { Tokens, TokenWithSecret } from '@storegate/console';
import { Command, Option } from 'commander';
import { type Common, changingCommand, idempotencyOption, operatorCommand, paragraph, perform } from '../command.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = ['name', 'role', 'created'] as const;

export function tokensCommand(terminal: Terminal): Command {
  const tokens = new Command('tokens').description('issue and end the tokens of operators');

  const create = tokens
    .command('create')
    .description('issue a token; it is shown this once')
    .argument('<name>', 'whose it is: small letters, digits and dashes')
    .addOption(
      new Option('--role <role>', 'read looks; operate acts on keys, bans and usage; admin does all')
        .choices(['read', 'operate', 'admin'])
        .makeOptionMandatory(),
    )
    .option('--token-only', 'print nothing but the token');
  changingCommand(idempotencyOption(create), 'tokens create ci-deploy --role operate').action(
    (name: string, { role, idempotencyKey, tokenOnly, ...options }: Common & Record<string, string>) =>
      perform(
        terminal,
        options,
        (api) => api.call<TokenWithSecret>('POST', '/tokens', { body: { name, role }, idempotencyKey }),
        ({ token }) =>
          tokenOnly ? `${token}\n` : `${token}\nThis is ${name}, role ${role}. The token is not shown again.\n`,
      ),
  );
  operatorCommand(tokens.command('list').description('list tokens by name'), 'tokens list').action((options: Common) =>
    perform(
      terminal,
      options,
      async (api) => (await api.call<Tokens>('GET', '/tokens')).tokens,
      (rows, colour) => table(COLUMNS, rows, colour),
    ),
  );
  changingCommand(
    tokens.command('revoke').description('end a token').argument('<name>', 'name of the token'),
    'tokens revoke ci-deploy',
  ).action((name: string, options: Common) =>
    perform(
      terminal,
      options,
      (api) => api.call('DELETE', `/tokens/${paragraph(name)}`),
      () => `${name} is revoked.\n`,
    ),
  );
  return tokens;
}

import type { Key, KeyWithSecret } from '@storegate/console';
import { recordInWords } from '@storegate/console/words';
import { Command, Option } from 'commander';
import {
  type Common,
  changingCommand,
  duration,
  environmentWord,
  everyPage,
  idempotencyOption,
  operatorCommand,
  paragraph,
  perform,
} from '../command.ts';
import { inSentence } from '../peers.ts';
import { card, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { bodyOf, type Described, described } from './key-options.ts';
import { keysImportCommand } from './keys-import.ts';

const COLUMNS = ['id', 'account', 'plan', 'limits', 'status', 'created', 'expires', 'lastUsed', 'label'] as const;

export function keysCommand(terminal: Terminal): Command {
  const keys = new Command('keys').description('issue, find, change, rotate and revoke API keys');

  create(keys, terminal);
  list(keys, terminal);
  operatorCommand(
    keys.command('get').description('show one key').argument('<id>', 'id of the key'),
    'keys get key_4fGh…',
  ).action((id: string, options: Common) =>
    perform(
      terminal,
      options,
      (api) => api.call<Key>('GET', `/keys/${paragraph(id)}`),
      ({ history, ...shown }, colour) =>
        card({ ...shown, ...(history && { bans: recordInWords(history, inSentence) }) }, colour),
    ),
  );
  update(keys, terminal);
  for (const [name, description, done] of [
    ['disable', 'switch a key off for a while', 'is disabled'],
    ['enable', 'switch a key on again', 'is enabled'],
  ] as const) {
    changingCommand(
      keys.command(name).description(description).argument('<id>', 'id of the key'),
      `keys ${name} key_4fGh…`,
    ).action((id: string, options: Common) =>
      perform(
        terminal,
        options,
        (api) => api.call('POST', `/keys/${paragraph(id)}/${name}`),
        () => `${id} ${done}.\n`,
      ),
    );
  }
  rotate(keys, terminal);
  changingCommand(
    keys.command('revoke').description('end a key for good').argument('<id>', 'id of the key'),
    'keys revoke key_4fGh…',
  ).action((id: string, options: Common) =>
    perform(
      terminal,
      options,
      (api) => api.call('DELETE', `/keys/${paragraph(id)}`),
      () => `${id} is revoked.\n`,
    ),
  );
  keysImportCommand(keys, terminal);
  identify(keys, terminal);
  return keys;
}

function create(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('create')
    .description('issue a key; its secret is shown this once')
    .requiredOption('--plan <plan>', 'plan of the key')
    .requiredOption('--account <account>', 'party that owns the key');
  idempotencyOption(described(command))
    .option('--env <word>', 'word inside the key that tells installations apart', environmentWord, 'live')
    .option('--key-only', 'print nothing but the key');
  changingCommand(
    command,
    'keys create --plan free --account acme --label "nightly import"',
    'keys create --plan enterprise --account acme --limits 600/minute,100000/day --json',
  ).action((options: Described & { keyOnly?: true }) =>
    perform(
      terminal,
      options,
      (api) =>
        api.call<KeyWithSecret>('POST', '/keys', { body: bodyOf(options), idempotencyKey: options.idempotencyKey }),
      (key) => (options.keyOnly ? `${key.key}\n` : secretOf(key)),
    ),
  );
}

function secretOf({ key, id, plan, account }: KeyWithSecret): string {
  return `${key}\nThis is ${id}, plan ${plan}, account ${account}. The key is not shown again.\n`;
}

function list(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('list')
    .description('list keys, without their secrets')
    .option('--account <account>', 'only keys of this account')
    .option('--plan <plan>', 'only keys of this plan')
    .addOption(new Option('--status <status>', 'only such keys').choices(['active', 'disabled', 'expired', 'revoked']))
    .option('--label <text>', 'only keys with this in their label')
    .option('--scope <name>', 'only keys that have this scope')
    .option('--find <text>', 'only keys with this in their id, account or label')
    .addOption(new Option('--sort <order>', 'oldest first, or newest first').choices(['created', '-created']));
  operatorCommand(command, 'keys list --account acme --status active').action(
    ({ account, plan, status, label, scope, find, sort, ...options }: Common & Record<string, string>) =>
      perform(
        terminal,
        options,
        (api) => everyPage<Key>(api, '/keys', 'keys', { account, plan, status, label, scope, find, sort }),
        (rows, colour) => table(COLUMNS, rows, colour),
      ),
  );
}

function update(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('update')
    .description('change a key; what is not named stays')
    .argument('<id>', 'id of the key')
    .option('--plan <plan>', 'another plan; what was used of its windows stays used');
  described(command)
    .option('--no-label', 'take the label away')
    .option('--no-limits', 'take own limits away')
    .option('--no-expires', 'let the key never expire')
    .option('--no-addresses', 'let the key be used from anywhere')
    .option('--no-scopes', 'take all scopes away');
  changingCommand(command, 'keys update key_4fGh… --plan pro --no-limits').action((id: string, options: Described) => {
    const body = Object.fromEntries(
      Object.entries(bodyOf(withoutDefaults(options))).filter(([, value]) => value !== undefined),
    );
    return perform(terminal, options, (api) => api.call<Key>('PATCH', `/keys/${paragraph(id)}`, { body }), card);
  });
}

/** Commander gives `true` for a `--no-…` option that was not used. */
function withoutDefaults(options: Described): Described {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== true)) as Described;
}

function rotate(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('rotate')
    .description('give a key a new secret; both work until the overlap ends')
    .argument('<id>', 'id of the key')
    .option('--overlap <time>', 'how long the old secret works; 0s ends it at once', duration, '24h')
    .option('--env <word>', 'word inside the key that tells installations apart', environmentWord, 'live')
    .option('--force', 'end the secret of an earlier rotation although its time is not over')
    .option('--key-only', 'print nothing but the key');
  changingCommand(idempotencyOption(command), 'keys rotate key_4fGh… --overlap 7d --json').action(
    (
      id: string,
      { overlap, env, force, idempotencyKey, keyOnly, ...options }: Common & Record<string, string | true>,
    ) =>
      perform(
        terminal,
        options,
        (api) =>
          api.call<KeyWithSecret>('POST', `/keys/${paragraph(id)}/rotate`, {
            body: { overlap, env, force },
            idempotencyKey: idempotencyKey as string | undefined,
          }),
        (key) => (keyOnly ? `${key.key}\n` : secretOf(key)),
      ),
  );
}

function identify(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('identify')
    .description('tell whose key a found secret is')
    .argument('[key]', 'the secret; without it, it is read from standard input, which others cannot list');
  operatorCommand(command, 'keys identify < found.txt').action(async (key: string | undefined, options: Common) => {
    const secret = (key ?? (await terminal.input())).trim();
    await perform(terminal, options, (api) => api.call<Key>('POST', '/keys/identify', { body: { key: secret } }), card);
  });
}

import {
  type Key,
  type KeyUpdate,
  type KeyWithSecret,
  type NewKey,
  VALUES,
} from '@storegate/admin-api';
import { plural, recordText } from '@storegate/admin-api/text';
import {
  type CommandSpec,
  call,
  command,
  durationOf,
  everyPage,
  type Options,
  operation,
  option,
  reader,
  repeated,
  withApi,
} from '../command.ts';
import { type Api, CommandError } from '../connect/api.ts';
import { doneView, inSentence, listView, print, type View } from '../output.ts';
import { type PastedKey, pastedKeys } from '../pasted-key.ts';
import { bodyOf, KEY_OPTIONS, type KeyOptions } from './key-options.ts';
import { importCommand } from './keys-import.ts';

type NewKeyOptions = KeyOptions & Pick<NewKey, 'account' | 'env'>;

export const KEYS = listView(
  [
    'id',
    'account',
    'plan',
    'limits',
    'status',
    'created',
    'expires',
    'lastUsed',
    'label',
  ],
  'No keys.',
);

const KEY: View<Key> = ({ history, ...key }, page) =>
  page.card({
    ...key,
    ...(history && { bans: recordText(history, inSentence) }),
  });

const SECRET: View<KeyWithSecret> = ({ key, id, plan, account }, page) =>
  `${key}\n${page.notes(`This is ${id}, plan ${plan}, account ${account}. The key is not shown again.`)}`;

const ENV = option(
  '--env <word>',
  'environment word inside the key',
  reader(
    (text) => /^[a-z]{1,12}$/.test(text),
    'Use 1 to 12 lowercase letters.',
  ),
  'live',
);
const KEY_ONLY = option('--key-only', 'print only the key').implies({
  quiet: true,
});
const EXAMPLE =
  'keys create --plan free --account acme --label "nightly import"';

export const keyCommands = command('keys', 'manage API keys', {
  examples: [EXAMPLE, 'keys list'],
  commands: [
    call('create', 'create a key (the secret is shown only once)', {
      options: [
        option('--plan <plan>', 'plan of the key').makeOptionMandatory(),
        option(
          '--account <account>',
          'account that owns the key',
        ).makeOptionMandatory(),
        ...KEY_OPTIONS,
        ENV,
      ],
      localOptions: [KEY_ONLY],
      examples: [EXAMPLE],
      ...operation('createKey', ({ account, env, ...own }: NewKeyOptions) => ({
        ...bodyOf(own),
        account,
        env,
      })),
      view: SECRET,
    }),
    call('list', 'list keys, without secrets', {
      options: [
        option('--account <account>', 'filter by account'),
        option('--plan <plan>', 'filter by plan'),
        option('--status <status>', 'filter by status').choices(
          VALUES.KeyStatus,
        ),
        option('--label <text>', 'filter by a part of the label'),
        option('--scope <name>', 'filter by scope'),
        option('--api <name>', 'filter by API that keys are limited to'),
        option('--find <text>', 'filter by a part of id, account or label'),
        option(
          '--sort <order>',
          'oldest (created) or newest (-created) first',
        ).choices(VALUES.sort),
      ],
      examples: ['keys list --account acme --status active'],
      ...everyPage<Key>('listKeys', 'keys'),
      view: KEYS,
    }),
    call('get <key-id>', 'show a key', {
      examples: ['keys get key_4fGh…'],
      ...operation('getKey'),
      view: KEY,
    }),
    call('update <key-id>', 'update a key (omitted options keep their value)', {
      options: [
        option('--plan <plan>', 'another plan; counters keep their values'),
        ...KEY_OPTIONS,
        option('--no-label', 'remove the label'),
        option('--no-limits', 'use the limits of the plan'),
        option('--no-expires', 'remove the expiry'),
        option('--no-addresses', 'allow any address').conflicts('address'),
        option('--no-apis', 'allow all APIs').conflicts('api'),
        option('--no-scopes', 'remove all scopes').conflicts('scope'),
        option(
          '--add-scope <name>',
          'add a scope, in place of --scope, which replaces all; repeatable',
          repeated,
        ).conflicts(['scope', 'scopes']),
        option(
          '--remove-scope <name>',
          'remove a scope; repeatable',
          repeated,
        ).conflicts(['scope', 'scopes']),
      ],
      examples: ['keys update key_4fGh… --plan pro --no-limits'],
      ...operation('updateKey', changesOf),
      view: KEY,
    }),
    statusChange('disable', 'disable a key until it is enabled', 'disableKey'),
    statusChange('enable', 'enable a key', 'enableKey'),
    statusChange('revoke', 'revoke a key', 'revokeKey'),
    call(
      'rotate <key-id>',
      'replace the secret of a key; both work during the overlap',
      {
        options: [
          option(
            '--overlap <time>',
            'how long the old secret works; 0s: not at all',
            durationOf('overlap'),
            '24h',
          ),
          ENV,
          option('--force', 'end the old secret of a rotation in progress'),
        ],
        localOptions: [KEY_ONLY],
        examples: ['keys rotate key_4fGh… --overlap 7d'],
        ...operation('rotateKey'),
        view: SECRET,
      },
    ),
    importCommand,
    command('identify [key]', 'identify the owner of a leaked key', {
      details:
        'Without an argument, the key is read from standard input: arguments are visible in ps. A header line, an assignment, an address, JSON and quoted text work too.',
      examples: ['keys identify < found.txt'],
      run: (terminal, options: Options, [pasted]) =>
        withApi(terminal, options, async (api) => {
          const found = pastedKeys(pasted ?? (await terminal.input()));
          const { owner, read } = await firstKnown(api, found);
          print(terminal, options, owner, (key, page) =>
            [
              KEY(key, page),
              page.notes(
                read,
                `For its last calls, run "storegate requests --key ${key.id}".`,
              ),
            ].join(''),
          );
        }),
    }),
  ],
});

/** Throws CommandError. */
async function firstKnown(api: Api, found: readonly PastedKey[]) {
  if (found.length === 0)
    throw new CommandError('No key on standard input.', { failure: 'usage' });
  let unknown: CommandError | null = null;
  for (const { key, what } of found) {
    const read = `Read ${what} (${plural(key.length, 'character')}).`;
    try {
      const owner = await api.call('identifyKey', { body: { key } });
      return { owner, read };
    } catch (error) {
      if (!(error instanceof CommandError) || error.failure !== 'failed')
        throw error;
      unknown ??= new CommandError(`${error.message} ${read}`);
    }
  }
  throw unknown;
}

/** Throws CommandError without a change. */
function changesOf(options: KeyOptions): KeyUpdate {
  const body = bodyOf(options);
  if (Object.values(body).some((value) => value !== undefined)) return body;
  throw new CommandError('Name a change, such as --plan pro.', {
    failure: 'usage',
  });
}

function statusChange(
  name: string,
  about: string,
  id: 'disableKey' | 'enableKey' | 'revokeKey',
): CommandSpec {
  return call(`${name} <key-id>`, about, {
    examples: [`keys ${name} key_4fGh…`],
    ...operation(id),
    view: doneView(({ id }) => `${id} is ${name.replace(/e$/, '')}ed.`),
  });
}

import type { Key, KeyWithSecret } from '@storegate/console';
import { recordInWords } from '@storegate/console/words';
import type { Command } from 'commander';
import {
  addCall,
  addCommand,
  duration,
  environmentWord,
  everyPage,
  type Options,
  option,
  segment,
} from '../command.ts';
import type { Api } from '../connect/api.ts';
import { cardView, doneView, inSentence, listView, type View } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { bodyOf, KEY_OPTIONS, type KeyOptions } from './key-options.ts';
import { addKeysImport } from './keys-import.ts';

const idOf = ({ id }: Key) => id;

export const KEYS = listView(
  ['id', 'account', 'plan', 'limits', 'status', 'created', 'expires', 'lastUsed', 'label'],
  'No keys.',
  idOf,
);

const KEY = cardView(idOf, ({ history, ...key }: Key) => ({
  ...key,
  ...(history && { bans: recordInWords(history, inSentence) }),
}));

const SECRET: View<KeyWithSecret> = {
  text: ({ key, id, plan, account }, page) =>
    `${key}\n${page.notes(`This is ${id}, plan ${plan}, account ${account}. The key is not shown again.`)}`,
  names: ({ id }) => [id],
};

const ENV = option('--env <word>', 'environment word inside the key', environmentWord, 'live');
const KEY_ONLY = option('--key-only', 'print only the key').implies({ quiet: true });

interface Rotation extends Options {
  readonly overlap: string;
  readonly env: string;
  readonly force?: true;
}

export function addKeys(program: Command, terminal: Terminal): void {
  const example = 'keys create --plan free --account acme --label "nightly import"';
  const keys = addCommand(program, 'keys', { about: 'manage API keys', examples: [example, 'keys list'] });

  addCall(terminal, keys, 'create', {
    about: 'create a key (the secret is shown only once)',
    options: [
      option('--plan <plan>', 'plan of the key').makeOptionMandatory(),
      option('--account <account>', 'account that owns the key').makeOptionMandatory(),
      ...KEY_OPTIONS,
      ENV,
      KEY_ONLY,
    ],
    changes: true,
    idempotent: true,
    examples: [example],
    ask: (api, options: KeyOptions) =>
      api.call('POST', '/keys', { body: bodyOf(options), idempotencyKey: options.idempotencyKey }),
    view: SECRET,
  });
  addCall(terminal, keys, 'list', {
    about: 'list keys, without secrets',
    options: [
      option('--account <account>', 'filter by account'),
      option('--plan <plan>', 'filter by plan'),
      option('--status <status>', 'filter by status').choices(['active', 'disabled', 'expired', 'revoked']),
      option('--label <text>', 'filter by a part of the label'),
      option('--scope <name>', 'filter by scope'),
      option('--find <text>', 'filter by a part of id, account or label'),
      option('--sort <order>', 'oldest (created) or newest (-created) first').choices(['created', '-created']),
    ],
    examples: ['keys list --account acme --status active'],
    ask: (api, { account, plan, status, label, scope, find, sort }: Options & Record<string, string>) =>
      everyPage(
        (page) => api.call('GET', '/keys', { query: { account, plan, status, label, scope, find, sort, ...page } }),
        ({ keys }) => keys,
      ),
    view: KEYS,
  });
  addGetAndUpdate(keys, terminal);
  addKeyStatus(keys, terminal);
  addKeysImport(keys, terminal);
  addKeyIdentify(keys, terminal);
}

function addGetAndUpdate(keys: Command, terminal: Terminal): void {
  addCall(terminal, keys, 'get <key-id>', {
    about: 'show a key',
    examples: ['keys get key_4fGh…'],
    ask: (api, _options, id: string) => api.call('GET', `/keys/${segment(id)}`),
    view: KEY,
  });
  addCall(terminal, keys, 'update <key-id>', {
    about: 'update a key (omitted options keep their value)',
    options: [
      option('--plan <plan>', 'another plan; counters keep their values'),
      ...KEY_OPTIONS,
      option('--no-label', 'remove the label'),
      option('--no-limits', 'use the limits of the plan'),
      option('--no-expires', 'remove the expiry'),
      option('--no-addresses', 'allow any address'),
      option('--no-scopes', 'remove all scopes'),
    ],
    changes: true,
    examples: ['keys update key_4fGh… --plan pro --no-limits'],
    ask: (api, options: KeyOptions, id: string) => api.call('PATCH', `/keys/${segment(id)}`, { body: bodyOf(options) }),
    view: KEY,
  });
}

function addKeyStatus(keys: Command, terminal: Terminal): void {
  const changes: readonly (readonly [name: string, about: string, ask: (api: Api, id: string) => Promise<Key>])[] = [
    ['disable', 'disable a key until it is enabled', (api, id) => api.call('POST', `/keys/${segment(id)}/disable`)],
    ['enable', 'enable a key', (api, id) => api.call('POST', `/keys/${segment(id)}/enable`)],
    ['revoke', 'revoke a key', (api, id) => api.call('DELETE', `/keys/${segment(id)}`)],
  ];
  for (const [name, about, ask] of changes) {
    addCall(terminal, keys, `${name} <key-id>`, {
      about,
      changes: true,
      examples: [`keys ${name} key_4fGh…`],
      ask: (api, _options, id: string) => ask(api, id),
      view: doneView(({ id }) => `${id} is ${name.replace(/e$/, '')}ed.`, idOf),
    });
  }
  addCall(terminal, keys, 'rotate <key-id>', {
    about: 'replace the secret of a key; both work during the overlap',
    options: [
      option('--overlap <time>', 'how long the old secret works; 0s: not at all', duration, '24h'),
      ENV,
      option('--force', 'end the old secret of a rotation in progress'),
      KEY_ONLY,
    ],
    changes: true,
    idempotent: true,
    examples: ['keys rotate key_4fGh… --overlap 7d'],
    ask: (api, { overlap, env, force, idempotencyKey }: Rotation, id: string) =>
      api.call('POST', `/keys/${segment(id)}/rotate`, {
        body: { overlap, env, force },
        idempotencyKey,
      }),
    view: SECRET,
  });
}

function addKeyIdentify(keys: Command, terminal: Terminal): void {
  addCall(terminal, keys, 'identify [key]', {
    about: 'identify the owner of a leaked key',
    details: 'Without an argument, the key is read from standard input: arguments are visible in ps.',
    examples: ['keys identify < found.txt'],
    ask: async (api, _options, key?: string) =>
      await api.call('POST', '/keys/identify', { body: { key: (key ?? (await terminal.input())).trim() } }),
    view: KEY,
  });
}

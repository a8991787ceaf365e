import type { Ban, BanEntry } from '@storegate/admin-api';
import {
  actionText,
  authorText,
  endText,
  recordText,
} from '@storegate/admin-api/text';
import {
  type CommandSpec,
  call,
  command,
  durationOf,
  LOG_OPTIONS,
  memberOf,
  option,
  pastTime,
} from '../command.ts';
import { inSentence, listView } from '../output.ts';
import { windowsTable } from './usage.ts';

const BANS = listView(
  [
    'key',
    'account',
    'plan',
    'since',
    'until',
    'level',
    'nextDuration',
    'resets',
    'by',
    'reason',
    'history',
  ],
  'No bans.',
  ({ resetsAt, history, ...ban }: Ban) => ({
    ...ban,
    resets: resetsAt,
    history: history && recordText(history, inSentence),
  }),
);

const HISTORY = listView(
  [
    'number',
    'time',
    'target',
    'action',
    'by',
    'until',
    'level',
    'ended',
    'reason',
  ],
  'No bans.',
  ({ at, actor, action, after, ended, ...entry }: BanEntry) => ({
    ...entry,
    time: at,
    action: actionText(action),
    by: authorText(actor),
    until: after?.until,
    level: after?.level,
    ended: ended && endText(ended, inSentence),
  }),
);

const EXAMPLE =
  'bans add key_4fGh… --duration 2h --reason "scrapes the catalogue"';

export const banCommands = command('bans', 'manage bans', {
  examples: ['bans list', EXAMPLE],
  commands: [
    call('list', 'list current bans', {
      ...memberOf('listBans', 'bans'),
      view: BANS,
    }),
    call(
      'history [key-or-account]',
      'list current and past bans, newest first',
      {
        options: [
          option(
            '--since <time>',
            'only since this time: 30d or 2030-01-31T00:00:00Z',
            pastTime,
          ),
          ...LOG_OPTIONS,
        ],
        examples: ['bans history acme --since 30d'],
        ...memberOf(
          'listBanHistory',
          'entries',
          (options: object, subject) => ({
            ...options,
            subject: subject || undefined,
          }),
        ),
        view: HISTORY,
      },
    ),
    banChange(
      'add',
      'ban a key or account',
      'how long, e.g. 2h or 30d',
      'addBan',
    ),
    banChange(
      'extend',
      'extend a ban',
      'additional time, e.g. 2h or 30d',
      'extendBan',
    ),
    call(
      'lift <key-or-account>',
      'end a ban, and reset strikes, ban level and counters',
      {
        changes: true,
        examples: ['bans lift acme'],
        ask: async (api, _options, subject) => ({
          subject,
          ...(await api.call('liftBan', { params: { subject } })),
        }),
        view: ({ subject, usage }, page) =>
          page.notes(`${subject} is not banned.`) + windowsTable(usage, page),
      },
    ),
  ],
});

function banChange(
  name: string,
  about: string,
  length: string,
  id: 'addBan' | 'extendBan',
): CommandSpec {
  return call(`${name} <key-or-account>`, about, {
    options: [
      option(
        '--duration <time>',
        length,
        durationOf('duration'),
      ).makeOptionMandatory(),
      option(
        '--reason <text>',
        'reason for the audit log; clients do not see it',
      ).makeOptionMandatory(),
    ],
    examples: [EXAMPLE.replace('add', name)],
    ...memberOf(id, 'bans'),
    view: BANS,
  });
}

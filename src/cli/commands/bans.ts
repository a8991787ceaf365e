import type { Ban, BanEntry, BodyOf } from '@storegate/console';
import { actionInWords, authorInWords, endInWords, recordInWords } from '@storegate/console/words';
import type { Command } from 'commander';
import { addCall, addCommand, duration, type Options, option, pastTime, segment, wholeNumber } from '../command.ts';
import { inSentence, listView } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { windowsTable } from './usage.ts';

const BANS = listView(
  ['key', 'account', 'plan', 'since', 'until', 'level', 'next duration', 'resets', 'by', 'reason', 'history'],
  'No bans.',
  ({ key, account }) => key ?? account,
  ({ nextDuration, resetsAt, history, ...ban }: Ban) => ({
    ...ban,
    'next duration': nextDuration,
    resets: resetsAt,
    history: history && recordInWords(history, inSentence),
  }),
);

const HISTORY = listView(
  ['number', 'time', 'target', 'action', 'by', 'until', 'level', 'ended', 'reason'],
  'No bans.',
  ({ number }) => number,
  ({ at, actor, action, after, ended, ...entry }: BanEntry) => ({
    ...entry,
    time: at,
    action: actionInWords(action),
    by: authorInWords(actor),
    until: after?.until,
    level: after?.level,
    ended: ended && endInWords(ended, inSentence),
  }),
);

const EXAMPLE = 'bans add key_4fGh… --duration 2h --reason "scrapes the catalogue"';

export function addBans(program: Command, terminal: Terminal): void {
  const bans = addCommand(program, 'bans', { about: 'manage bans', examples: ['bans list', EXAMPLE] });

  addCall(terminal, bans, 'list', {
    about: 'list current bans',
    examples: ['bans list'],
    ask: async (api) => (await api.call('GET', '/bans')).bans,
    view: BANS,
  });
  addCall(terminal, bans, 'history [key-or-account]', {
    about: 'list current and past bans, newest first',
    options: [
      option('--since <time>', 'only since this time: 30d or 2030-01-31T00:00:00Z', pastTime),
      option('--below <number>', 'only entries before this number', wholeNumber),
      option('--limit <number>', 'maximum results, up to 1000', wholeNumber, 50),
    ],
    examples: ['bans history acme --since 30d'],
    ask: async (api, { since, below, limit }: Options & Record<string, string>, subject?: string) =>
      (await api.call('GET', '/ban-history', { query: { subject, since, below, limit } })).entries,
    view: HISTORY,
  });
  addBanChanges(bans, terminal);
  addCall(terminal, bans, 'lift <key-or-account>', {
    about: 'end a ban, and reset strikes, ban level and counters',
    changes: true,
    examples: ['bans lift acme'],
    ask: async (api, _options, subject: string) => ({
      subject,
      ...(await api.call('DELETE', `/bans/${segment(subject)}`)),
    }),
    view: {
      text: ({ subject, usage }, page) => page.notes(`${subject} is not banned.`) + windowsTable(usage, page),
      names: ({ subject }) => [subject],
    },
  });
}

function addBanChanges(bans: Command, terminal: Terminal): void {
  for (const [name, about] of [
    ['add', 'ban a key or account'],
    ['extend', 'extend a ban'],
  ] as const) {
    addCall(terminal, bans, `${name} <key-or-account>`, {
      about,
      options: [
        option(
          '--duration <time>',
          name === 'add' ? 'how long, e.g. 2h or 30d' : 'additional time, e.g. 2h or 30d',
          duration,
        ).makeOptionMandatory(),
        option('--reason <text>', 'reason for the audit log; clients do not see it').makeOptionMandatory(),
      ],
      examples: [EXAMPLE.replace('add', name)],
      async ask(api, { duration, reason }: Options & { duration: string }, subject: string) {
        const body: BodyOf<'addBan'> = { duration, reason };
        const path = `/bans/${segment(subject)}` as const;
        const answer = name === 'add' ? api.call('PUT', path, { body }) : api.call('POST', `${path}/extend`, { body });
        return (await answer).bans;
      },
      view: BANS,
    });
  }
}

import type { BodyOf, Usage } from '@storegate/admin-api';
import { recordInWords } from '@storegate/admin-api/words';
import { call, command, option, wholeNumber } from '../command.ts';
import { inSentence, type Page, type View } from '../output.ts';

const COLUMNS = [
  'subject',
  'window',
  'limit',
  'used',
  'remaining',
  'resets',
  'banned',
  'strikes',
] as const;

export const usageCommands = command('usage', 'show and adjust usage counters', {
  examples: ['usage get acme'],
  commands: [
    call('get <key-or-account>', 'show the counters of a key or account', {
      examples: ['usage get key_4fGh…'],
      ask: async (api, _options, subject) =>
        (await api.call('getUsage', { params: { subject } })).usage,
      view: viewWith(({ subject, history }) =>
        history && (history.bans > 0 || history.lifted)
          ? `Bans of ${subject}: ${recordInWords(history, inSentence)}.`
          : null,
      ),
    }),
    call('reset <key-or-account>', 'reset all counters; strikes and bans stay', {
      changes: 'idempotent',
      examples: ['usage reset acme'],
      ask: async (api, _options, subject) =>
        (await api.call('resetUsage', { params: { subject } })).usage,
      view: viewWith(banIn),
    }),
    call('grant <key-or-account>', 'refund units in the current windows, at most the units used', {
      options: [
        option('--units <number>', 'units to refund', wholeNumber).makeOptionMandatory(),
        option('--window <name>', 'one window, e.g. day or login:minute; default: all windows'),
      ],
      changes: 'idempotent',
      examples: ['usage grant key_4fGh… --units 500 --window day'],
      ask: async (api, { units, window }: BodyOf<'grantUsage'>, subject) =>
        (await api.call('grantUsage', { params: { subject }, body: { units, window } })).usage,
      view: viewWith(banIn),
    }),
  ],
});

export function windowsTable(usage: readonly Usage[], page: Page): string {
  const rows = usage.flatMap(({ windows, ...rest }) =>
    windows.map(({ name, ...window }) => ({ ...rest, ...window, window: name })),
  );
  return page.table(COLUMNS, rows, 'No counters.');
}

function viewWith(note: (one: Usage) => string | null): View<readonly Usage[]> {
  return {
    text: (usage, page) =>
      windowsTable(usage, page) + page.notes(...usage.map(note).filter((line) => line !== null)),
    names: (usage) => usage.map(({ subject }) => subject),
  };
}

function banIn({ subject, banned }: Usage): string | null {
  return banned === null
    ? null
    : `${subject} stays banned until ${inSentence(banned)}. To end the ban, run "storegate bans lift".`;
}

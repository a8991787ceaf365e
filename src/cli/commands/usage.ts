import type { Usage } from '@storegate/console';
import { recordInWords } from '@storegate/console/words';
import type { Command } from 'commander';
import { addCall, addCommand, type Options, option, segment, wholeNumber } from '../command.ts';
import { inSentence, type Page, type View } from '../output.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = ['subject', 'window', 'limit', 'used', 'remaining', 'resets', 'banned', 'strikes'] as const;

export function addUsage(program: Command, terminal: Terminal): void {
  const usage = addCommand(program, 'usage', { about: 'show and adjust usage counters', examples: ['usage get acme'] });

  addCall(terminal, usage, 'get <key-or-account>', {
    about: 'show the counters of a key or account',
    examples: ['usage get key_4fGh…'],
    ask: async (api, _options, subject: string) => (await api.call('GET', `/usage/${segment(subject)}`)).usage,
    view: viewWith(({ subject, history }) =>
      history && (history.bans > 0 || history.lifted)
        ? `Bans of ${subject}: ${recordInWords(history, inSentence)}.`
        : null,
    ),
  });
  addCall(terminal, usage, 'reset <key-or-account>', {
    about: 'reset all counters; strikes and bans stay',
    changes: true,
    idempotent: true,
    examples: ['usage reset acme'],
    ask: async (api, { idempotencyKey }, subject: string) =>
      (await api.call('POST', `/usage/${segment(subject)}/reset`, { idempotencyKey })).usage,
    view: viewWith(banIn),
  });
  addCall(terminal, usage, 'grant <key-or-account>', {
    about: 'refund units in the current windows, at most the units used',
    options: [
      option('--units <number>', 'units to refund', wholeNumber).makeOptionMandatory(),
      option('--window <name>', 'one window, e.g. day or login:minute; default: all windows'),
    ],
    changes: true,
    idempotent: true,
    examples: ['usage grant key_4fGh… --units 500 --window day'],
    ask: async (
      api,
      { units, window, idempotencyKey }: Options & { units: number; window?: string },
      subject: string,
    ) => {
      const path = `/usage/${segment(subject)}/grant` as const;
      return (await api.call('POST', path, { body: { units, window }, idempotencyKey })).usage;
    },
    view: viewWith(banIn),
  });
}

export function windowsTable(usage: readonly Usage[], page: Page): string {
  const rows = usage.flatMap(({ windows, ...rest }) =>
    windows.map(({ name, ...window }) => ({ ...rest, ...window, window: name })),
  );
  return page.table(COLUMNS, rows, 'No counters.');
}

function viewWith(note: (one: Usage) => string | null): View<readonly Usage[]> {
  return {
    text: (usage, page) => windowsTable(usage, page) + page.notes(...usage.map(note).filter((line) => line !== null)),
    names: (usage) => usage.map(({ subject }) => subject),
  };
}

function banIn({ subject, banned }: Usage): string | null {
  return banned === null
    ? null
    : `${subject} stays banned until ${inSentence(banned)}. To end the ban, run "storegate bans lift".`;
}

import type { Usage, UsageList } from '@storegate/console';
import { recordInWords } from '@storegate/console/words';
import { Command } from 'commander';
import {
  type Common,
  changingCommand,
  idempotencyOption,
  operatorCommand,
  paragraph,
  perform,
  wholeNumber,
} from '../command.ts';
import { inSentence } from '../peers.ts';
import { type Row, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = ['subject', 'window', 'limit', 'used', 'remaining', 'resets', 'banned', 'strikes'] as const;
const SUBJECT = ['<key-or-account>', 'id of a key, or name of an account'] as const;

export function usageCommand(terminal: Terminal): Command {
  const usage = new Command('usage').description('see and correct what was counted');
  const usageIn = async (answer: Promise<UsageList>) => (await answer).usage;

  operatorCommand(
    usage
      .command('get')
      .description('show every window of a key or account now')
      .argument(...SUBJECT),
    'usage get key_4fGh…',
  ).action((party: string, options: Common) =>
    perform(
      terminal,
      options,
      (api) => usageIn(api.call('GET', `/usage/${paragraph(party)}`)),
      (usage, colour) => printUsage(usage, colour) + historyOf(usage),
    ),
  );
  changingCommand(
    idempotencyOption(
      usage
        .command('reset')
        .description('open all windows afresh; strikes and a ban stay')
        .argument(...SUBJECT),
    ),
    'usage reset acme',
  ).action((party: string, { idempotencyKey, ...options }: Common & { idempotencyKey?: string }) =>
    perform(
      terminal,
      options,
      (api) => usageIn(api.call('POST', `/usage/${paragraph(party)}/reset`, { idempotencyKey })),
      showChanged,
    ),
  );
  const grant = usage
    .command('grant')
    .description('give units back, never more than were used')
    .argument(...SUBJECT)
    .requiredOption('--units <number>', 'how many', wholeNumber)
    .option('--window <name>', 'one window, such as day or login:minute; all of them without it');
  changingCommand(idempotencyOption(grant), 'usage grant key_4fGh… --units 500 --window day').action(
    (
      party: string,
      {
        units,
        window,
        idempotencyKey,
        ...options
      }: Common & { units: number; window?: string; idempotencyKey?: string },
    ) =>
      perform(
        terminal,
        options,
        (api) =>
          usageIn(api.call('POST', `/usage/${paragraph(party)}/grant`, { body: { units, window }, idempotencyKey })),
        showChanged,
      ),
  );
  return usage;
}

/** What is left in every window. */
export function printUsage(standings: readonly Usage[], colour: boolean): string {
  return table(COLUMNS, standings.flatMap(rowsOf), colour);
}

/** The windows after a change that ends no ban. */
function showChanged(standings: readonly Usage[], colour: boolean): string {
  const banned = standings.filter(({ banned }) => banned !== null);
  const lines = banned.map(
    ({ subject, banned }) => `${subject} stays banned until ${banned}. To end it: storegate bans lift\n`,
  );
  return [printUsage(standings, colour), ...lines].join('');
}

/** A line for each that was banned lately. */
function historyOf(standings: readonly Usage[]): string {
  const banned = standings.filter(({ history }) => history && (history.bans > 0 || history.lifted));
  return banned.map(({ subject, history }) => `Bans of ${subject}: ${recordInWords(history!, inSentence)}.\n`).join('');
}

function rowsOf({ subject, windows, banned, strikes }: Usage): Row<(typeof COLUMNS)[number]>[] {
  return windows.map(({ name, ...window }) => ({ subject, window: name, ...window, banned, strikes }));
}

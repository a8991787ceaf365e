import type { Ban, Bans, UsageList } from '@storegate/console';
import { recordInWords } from '@storegate/console/words';
import { Command } from 'commander';
import { type Common, changingCommand, duration, operatorCommand, paragraph, perform } from '../command.ts';
import type { Api } from '../connect/api.ts';
import { inSentence } from '../peers.ts';
import { type Row, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { banHistoryCommand } from './ban-history.ts';
import { printUsage } from './usage.ts';

const FIELDS = [
  'key',
  'account',
  'plan',
  'since',
  'until',
  'level',
  'next duration',
  'resets',
  'by',
  'reason',
] as const;
const COLUMNS = [...FIELDS, 'history'] as const;

const SUBJECT = ['<key-or-account>', 'id of a key, or name of an account'] as const;

export function bansCommand(terminal: Terminal): Command {
  const bans = new Command('bans').description('see, impose and end bans');
  const shown = (rows: readonly Ban[], colour: boolean) => table(COLUMNS, rows.map(rowOf), colour);
  const bansIn = async (answer: Promise<Bans>) => (await answer).bans;

  operatorCommand(bans.command('list').description('list who is banned now'), 'bans list').action((options: Common) =>
    perform(terminal, options, (api) => bansIn(api.call('GET', '/bans')), shown),
  );

  banHistoryCommand(bans, terminal);

  for (const [name, description, call] of [
    [
      'add',
      'ban a key or an account from now on',
      (api: Api, path: string, body: unknown) => api.call<Bans>('PUT', path, { body }),
    ],
    [
      'extend',
      'make a ban longer',
      (api: Api, path: string, body: unknown) => api.call<Bans>('POST', `${path}/extend`, { body }),
    ],
  ] as const) {
    const command = bans
      .command(name)
      .description(description)
      .argument(...SUBJECT)
      .requiredOption('--duration <time>', name === 'add' ? 'such as 2h or 30d' : 'how much longer', duration)
      .requiredOption('--reason <text>', 'for the audit log; the client is not told');
    operatorCommand(command, `bans ${name} key_4fGh… --duration 2h --reason "scrapes the catalogue"`).action(
      (party: string, { duration: length, reason, ...options }: Common & Record<string, string>) =>
        perform(
          terminal,
          options,
          (api) => bansIn(call(api, `/bans/${paragraph(party)}`, { duration: length, reason })),
          shown,
        ),
    );
  }

  changingCommand(
    bans
      .command('lift')
      .description('end a ban, forget strikes and earlier bans, and open all windows afresh')
      .argument(...SUBJECT),
    'bans lift acme',
  ).action((party: string, options: Common) =>
    perform(
      terminal,
      options,
      async (api) => (await api.call<UsageList>('DELETE', `/bans/${paragraph(party)}`)).usage,
      (usage, colour) => `${party} is not banned.\n${printUsage(usage, colour)}`,
    ),
  );
  return bans;
}

function rowOf({
  level: rung,
  nextDuration: next,
  resetsAt: forgotten,
  history,
  ...rest
}: Ban): Row<(typeof COLUMNS)[number]> {
  return {
    ...rest,
    level: rung,
    'next duration': next,
    resets: forgotten,
    history: history && recordInWords(history, inSentence),
  };
}

import type { Ban, Bans, Standings } from '@storegate/console';
import { Command } from 'commander';
import { type Common, changingCommand, duration, operatorCommand, part, perform } from '../command.ts';
import type { Api } from '../reach/api.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { banHistoryCommand, recordInWords } from './ban-history.ts';
import { showStandings } from './usage.ts';

const FIELDS = ['key', 'account', 'plan', 'since', 'until', 'rung', 'next', 'forgotten', 'by', 'reason'] as const;
const COLUMNS = [...FIELDS, 'history'] as const;

const PARTY = ['<party>', 'id of a key, or name of an account'] as const;

export function bansCommand(terminal: Terminal): Command {
  const bans = new Command('bans').description('see, impose and end bans');
  const shown = (rows: readonly Ban[], colour: boolean) =>
    table(
      COLUMNS,
      rows.map((row) => ({ ...row, history: row.history && recordInWords(row.history) })),
      colour,
    );
  const bansIn = async (answer: Promise<Bans>) => (await answer).bans;

  operatorCommand(bans.command('list').description('list who is banned now'), 'bans list').action((options: Common) =>
    perform(terminal, options, (api) => bansIn(api.call('GET', '/bans')), shown),
  );

  banHistoryCommand(bans, terminal);

  for (const [name, description, call] of [
    [
      'impose',
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
      .argument(...PARTY)
      .requiredOption('--length <time>', name === 'impose' ? 'such as 2h or 30d' : 'how much longer', duration)
      .requiredOption('--reason <text>', 'for the audit log; the client is not told');
    operatorCommand(command, `bans ${name} key_4fGh… --length 2h --reason "scrapes the catalogue"`).action(
      (party: string, { length, reason, ...options }: Common & Record<string, string>) =>
        perform(terminal, options, (api) => bansIn(call(api, `/bans/${part(party)}`, { length, reason })), shown),
    );
  }

  changingCommand(
    bans
      .command('pardon')
      .description('end a ban, forget strikes and earlier bans, and open all windows afresh')
      .argument(...PARTY),
    'bans pardon acme',
  ).action((party: string, options: Common) =>
    perform(
      terminal,
      options,
      async (api) => (await api.call<Standings>('DELETE', `/bans/${part(party)}`)).usage,
      (usage, colour) => `${party} is pardoned.\n${showStandings(usage, colour)}`,
    ),
  );
  return bans;
}

import { Command } from 'commander';
import { type Common, operatorCommand, perform } from '../command.ts';
import { CallError } from '../reach/api.ts';
import { type Row, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = ['name', 'value', 'source', 'restart'] as const;
type Setting = Row<'name' | 'value' | 'source'> & { readonly restart: boolean };

export function configCommand(terminal: Terminal): Command {
  return operatorCommand(
    new Command('config').description('show every setting in force, and where its value comes from'),
    'config',
    'config --url http://127.0.0.1:9901 --json',
  ).action((options: Common) =>
    perform(
      terminal,
      options,
      async (api) => ((await api.call('GET', '/config')) as { settings: Setting[] }).settings,
      (rows, colour) =>
        table(
          COLUMNS,
          rows.map((row) => ({ ...row, restart: row.restart ? 'needed' : null })),
          colour,
        ),
    ),
  );
}

export function reloadCommand(terminal: Terminal): Command {
  return operatorCommand(
    new Command('reload').description('have a running gateway read its files again'),
    'reload --url http://127.0.0.1:9901',
  ).action(async (options: Common) => {
    if (
      options.url === undefined &&
      !terminal.env.STOREGATE_ADMIN_URL &&
      !options.profile &&
      !terminal.env.STOREGATE_PROFILE
    ) {
      throw new CallError(
        'name the gateway to reload, with --url or STOREGATE_ADMIN_URL; it also notices changed files by itself',
      );
    }
    await perform(
      terminal,
      options,
      (api) => api.call('POST', '/reload') as Promise<{ changed: string[]; needRestart: string[] }>,
      ({ changed, needRestart }) =>
        `${changed.length === 0 ? 'Nothing has changed.' : `In force now: ${changed.join(', ')}.`}\n${
          needRestart.length === 0 ? '' : `Only after a restart: ${needRestart.join(', ')}.\n`
        }`,
    );
  });
}

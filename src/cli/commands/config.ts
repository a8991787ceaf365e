import type { Config, ConfigDiff, Reload, Setting } from '@storegate/console';
import { Command } from 'commander';
import { type Common, changingCommand, operatorCommand, perform } from '../command.ts';
import { CallError } from '../connect/api.ts';
import { type Row, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = ['name', 'value', 'source', 'restart'] as const;

export function configCommand(terminal: Terminal): Command {
  const config = operatorCommand(
    new Command('config').description('show every setting in force, and where its value comes from'),
    'config',
    'config --url http://127.0.0.1:9901 --json',
  ).action((options: Common) =>
    perform(
      terminal,
      options,
      async (api) => (await api.call<Config>('GET', '/config')).settings,
      (rows, colour) => table(COLUMNS, rows.flatMap(rowsOf), colour),
    ),
  );
  operatorCommand(
    config.command('diff').description('compare what the files say with what a running gateway has in force'),
    'config diff',
    'config diff --url http://127.0.0.1:9901',
  ).action(async (_options: Common, command: Command) => {
    const { showDifferences } = await import('../differences.ts');
    // The command above takes the options that both have.
    await perform(
      terminal,
      command.optsWithGlobals(),
      (api) => api.call<ConfigDiff>('GET', '/config/diff'),
      showDifferences,
    );
  });
  return config;
}

/** A long value takes several rows. It is broken after commas if it has any. */
function rowsOf({ restart, ...setting }: Setting): Row<(typeof COLUMNS)[number]>[] {
  const [value, ...rest] = setting.value.match(/.{1,47}(?:,|$)|.{1,48}/g)!;
  const blank = { name: ' ', source: ' ', restart: ' ' };
  return [{ ...setting, value, restart: restart ? 'needed' : null }, ...rest.map((value) => ({ ...blank, value }))];
}

export function reloadCommand(terminal: Terminal): Command {
  return changingCommand(
    new Command('reload')
      .description('have a running gateway read its files again')
      .option('--dry-run', 'only say what would change, or every mistake'),
    'reload --url http://127.0.0.1:9901',
    'reload --dry-run',
  ).action(async ({ dryRun = false, ...options }: Common & { dryRun?: boolean }) => {
    if (
      !dryRun &&
      options.url === undefined &&
      !terminal.env.STOREGATE_ADMIN_URL &&
      !options.profile &&
      !terminal.env.STOREGATE_PROFILE
    ) {
      throw new CallError(
        'name the gateway to reload, with --url or STOREGATE_ADMIN_URL; it also notices changed files by itself',
        { failure: 'usage' },
      );
    }
    await perform(
      terminal,
      options,
      (api) => api.call<Reload>('POST', '/reload', dryRun ? { query: { dryRun: 'true' } } : {}),
      (reloaded) => showReloaded(reloaded, dryRun),
    );
  });
}

function showReloaded({ changed, needRestart }: Reload, dryRun: boolean): string {
  const [nothing, inForce] = dryRun
    ? ['Nothing would change.', 'A reload would put in force:']
    : ['Nothing has changed.', 'In force now:'];
  return `${changed.length === 0 ? nothing : `${inForce} ${changed.join(', ')}.`}\n${
    needRestart.length === 0 ? '' : `Only after a restart: ${needRestart.join(', ')}.\n`
  }`;
}

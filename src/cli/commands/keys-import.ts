import { type Command, Option } from 'commander';
import { type Common, changingCommand, idempotencyOption, perform, withApi } from '../command.ts';
import { CallError } from '../connect/api.ts';
import { FORMATS, type Format } from '../importing/formats.ts';
import type { ImportOptions } from '../importing/import-file.ts';
import type { Tally } from '../importing/passes.ts';
import type { Terminal } from '../terminal.ts';
import { bodyOf, type Described, described } from './key-options.ts';

type Options = Described & Pick<ImportOptions, 'dryRun' | 'skipBad'> & Record<'hash' | 'file', string | undefined>;

/** Options that describe one key, and so go with no file. */
const OF_ONE_KEY = ['hash', 'label', 'limits', 'expires', 'expiresIn', 'address', 'meta', 'idempotencyKey'];

export function keysImportCommand(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('import')
    .description('take over keys of another system: one by the SHA-256 of its secret, or those of a file')
    .option('--hash <sha256>', '64 hexadecimal digits, or 43 characters of base64url')
    .addOption(new Option('--file <file>', 'keys as CSV or lines of JSON, - for standard input').conflicts(OF_ONE_KEY))
    .addOption(
      new Option('--format <format>', 'what the file is; without it, its name ends in .csv, .ndjson or .jsonl').choices(
        FORMATS,
      ),
    )
    .option('--dry-run', 'check the file, and change nothing')
    .option('--skip-bad', 'import the good keys of the file although others are bad')
    .option('--plan <plan>', 'plan of the key; of a file, for keys without one of their own')
    .option('--account <account>', 'party that owns the key; of a file, for keys without one of their own');
  changingCommand(
    idempotencyOption(described(command)),
    'keys import --plan pro --account acme --hash "$(printf %s "$OLD_KEY" | sha256sum | cut -c1-64)"',
    'keys import --file keys.csv --dry-run',
    'keys import --file kong.yaml --format kong --plan pro',
  ).action(async (options: Options & { format?: Format }) => {
    const { hash, file, plan, account } = options;
    if (file !== undefined) return await importFromFile(terminal, { ...options, file });
    if (hash === undefined || plan === undefined || account === undefined)
      command.error('error: say --hash, --plan and --account for one key, or --file for many');
    if (options.format || options.dryRun || options.skipBad)
      command.error('error: --format, --dry-run and --skip-bad go with --file');
    await perform(
      terminal,
      options,
      (api) =>
        api.call('POST', '/keys/import', {
          body: { ...bodyOf(options), hash },
          idempotencyKey: options.idempotencyKey,
        }),
      (key) => `${(key as { id: string }).id} is imported; its old secret works now.\n`,
    );
  });
}

/** Throws CallError after it has told of keys that were not taken over. */
async function importFromFile(terminal: Terminal, options: Common & ImportOptions): Promise<void> {
  const { importFile } = await import('../importing/import-file.ts');
  const { file, format, dryRun, skipBad, plan, account } = options;
  await withApi(terminal, options, async (api) => {
    const given = Object.entries({ format, dryRun, skipBad, plan, account }).filter(([, value]) => value !== undefined);
    const tally = await importFile(terminal, api, { file, ...Object.fromEntries(given) });
    terminal.err(badRows(tally));
    if (tally.hadSecrets)
      terminal.err(
        `${file === '-' ? 'What was read' : file} holds secrets themselves: delete it when it is done with.\n`,
      );
    if (options.json) terminal.out(`${JSON.stringify(shown(tally, dryRun ?? false))}\n`);
    else if (tally.bad === 0 || skipBad || dryRun) terminal.out(summary(tally, dryRun ?? false));
    if (tally.bad > 0) throw new CallError(refusal(tally, options));
  });
}

function badRows({ printed, omitted }: Tally): string {
  const lines = printed.map(({ at, field, message }) => `${at}: ${field === null ? '' : `${field}: `}${message}`);
  if (omitted > 0) lines.push(`and ${omitted} more`);
  return lines.map((line) => `${line}\n`).join('');
}

function shown({ imported, already, bad, printed, omitted }: Tally, dryRun: boolean) {
  return { dryRun, imported, already, bad, told: printed, untold: omitted };
}

function summary({ imported, already }: Tally, dryRun: boolean): string {
  const would = dryRun ? 'Dry run, nothing was changed: ' : '';
  return `${would}${count(imported)} ${dryRun ? 'would be ' : ''}imported, ${already} there already.\n`;
}

function refusal({ bad }: Tally, { dryRun, skipBad }: ImportOptions): string {
  if (dryRun) return `${count(bad)} cannot be imported.`;
  return `${count(bad)} cannot be imported${skipBad ? '.' : ', so none was; --skip-bad imports the others.'}`;
}

function count(keys: number): string {
  return keys === 1 ? '1 key' : `${keys} keys`;
}

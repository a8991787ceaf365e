import type { Key } from '@storegate/admin-api';
import { plural } from '@storegate/admin-api/text';
import { command, type Options, option, reader, withApi } from '../command.ts';
import { CommandError } from '../connect/api.ts';
import type { ImportOptions } from '../importing/import-file.ts';
import type { Tally } from '../importing/passes.ts';
import { doneView, print, type View } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { bodyOf, KEY_OPTIONS, type KeyOptions } from './key-options.ts';

type ImportCommandOptions = Options &
  KeyOptions &
  Pick<ImportOptions, 'account' | 'dryRun' | 'skipBad'> & {
    readonly hash?: string;
    readonly file?: string;
  };

const OF_ONE_KEY = [
  'hash',
  'label',
  'limits',
  'expires',
  'expiresIn',
  'address',
  'meta',
  'idempotencyKey',
];

export const importCommand = command(
  'import',
  'import keys of another system: one by its SHA-256, or a file',
  {
    options: [
      option(
        '--hash <sha256>',
        'SHA-256 of the key: 64 hexadecimal digits, or 43 characters of base64url',
        reader(
          (text) => /^([0-9A-Fa-f]{64}|[\w-]{43})$/.test(text),
          'Use the SHA-256 of the key: 64 hexadecimal digits, or 43 characters of base64url.',
        ),
      ),
      option(
        '--file <file>',
        'keys as lines of JSON; - for standard input',
      ).conflicts(OF_ONE_KEY),
      option('--dry-run', 'check the file without changes'),
      option('--skip-bad', 'import valid keys even if others are invalid'),
      option(
        '--plan <plan>',
        'plan of the key; in a file: of keys without a plan',
      ),
      option(
        '--account <account>',
        'account of the key; in a file: of keys without an account',
      ),
      ...KEY_OPTIONS,
    ],
    changes: true,
    examples: ['keys import --file keys.ndjson --plan pro --dry-run'],
    async run(terminal, options: ImportCommandOptions, _args, command) {
      const { hash, file, plan, account } = options;
      if (file !== undefined)
        return await importFromFile(terminal, { ...options, file });
      if (hash === undefined || plan === undefined || account === undefined)
        return command.error(
          'error: use --hash, --plan and --account for one key, or --file for many',
        );
      if (options.dryRun || options.skipBad)
        command.error('error: --dry-run and --skip-bad need --file');
      await withApi(terminal, options, async (api) => {
        const body = { ...bodyOf(options), hash, plan, account };
        const key = await api.call('importKey', { body });
        print(terminal, options, key, IMPORTED);
      });
    },
  },
);

const IMPORTED = doneView(
  ({ id }: Key) => `${id} is imported. Its old secret works now.`,
);

/** Throws CommandError after it has printed the keys that cannot be imported. */
async function importFromFile(
  terminal: Terminal,
  options: Options & ImportOptions,
): Promise<void> {
  const { importFile } = await import('../importing/import-file.ts');
  const { file, dryRun = false, skipBad } = options;
  await withApi(terminal, options, async (api) => {
    const tally = await importFile(terminal, api, options);
    const { imported, already, bad, problems, moreProblems } = tally;
    terminal.err(badRows(tally));
    if (tally.hadSecrets)
      terminal.err(
        `${file === '-' ? 'The input' : file} contains secrets: delete it after the import.\n`,
      );
    const isRefused = bad > 0 && !skipBad && !dryRun;
    print(
      terminal,
      options,
      { dryRun, imported, already, bad, problems, moreProblems },
      isRefused ? NOTHING : SUMMARY,
    );
    if (bad > 0) throw new CommandError(refusal(tally, options));
  });
}

const NOTHING: View<unknown> = () => '';
const SUMMARY: View<{
  readonly dryRun: boolean;
  readonly imported: number;
  readonly already: number;
}> = ({ dryRun, imported, already }, page) => {
  const what = `${plural(imported, 'key')} ${dryRun ? 'would be ' : ''}imported, ${already} exist already.`;
  return page.notes(dryRun ? `Dry run, no changes: ${what}` : what);
};

function badRows({ problems, moreProblems }: Tally): string {
  const lines = problems.map(
    ({ line, field, message }) =>
      `line ${line}: ${field === null ? '' : `${field}: `}${message}`,
  );
  if (moreProblems > 0) lines.push(`and ${moreProblems} more`);
  return lines.map((line) => `${line}\n`).join('');
}

function refusal({ bad }: Tally, { dryRun, skipBad }: ImportOptions): string {
  const keys = `${plural(bad, 'key')} cannot be imported`;
  return dryRun || skipBad
    ? `${keys}.`
    : `${keys}, so none was. To import the others, use --skip-bad.`;
}

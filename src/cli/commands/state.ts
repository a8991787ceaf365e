import { command, lazily, option } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import type { CopyOptions } from '../transfer/copy-state.ts';

const CONTENT = `\
A state has keys, tokens, audit log, ban log, counters, strikes, bans and usage; of secrets only hashes. Copy plans.yaml yourself.

A place is a data folder, a file (.ndjson), a Redis URL, or "redis" for the Redis of the configuration. Prefer REDIS_URL
and "redis" for a Redis with a password: arguments are visible in ps.`;

const REPAIR = `\
A gateway does not start if a file of its data folder is missing or empty. Restore the file if you can: after a repair,
lost counters start at zero, lost bans end, and lost keys are rejected.`;

const OUTPUT_FILE = 'The file must not exist; it is created with mode 0600.';
const DRY_RUN = option('--dry-run', 'check everything, and change nothing');

export const stateCommands = command(
  'state',
  'back up, restore and migrate state',
  {
    details: CONTENT,
    examples: [
      'state backup /backups/storegate-2030-01-31.ndjson',
      'state copy --from data --to redis',
    ],
    commands: [
      command(
        'export <file>',
        'export a state to a file, also while gateways run',
        {
          options: [
            option('--from <place>', 'source; default: the configured state'),
          ],
          details: OUTPUT_FILE,
          examples: ['state export state.ndjson'],
          run: withFile('to'),
        },
      ),
      command('import <file>', 'import a file into an empty state', {
        options: [
          option('--to <place>', 'target; default: the configured state'),
          DRY_RUN,
        ],
        examples: ['state import state.ndjson --dry-run'],
        run: withFile('from'),
      }),
      command('copy', 'copy a state to an empty place', {
        options: [
          option(
            '--from <place>',
            'source; gateways may use it',
          ).makeOptionMandatory(),
          option(
            '--to <place>',
            'target; no gateway may use it',
          ).makeOptionMandatory(),
          DRY_RUN,
        ],
        examples: ['state copy --from data --to redis'],
        run: copy,
      }),
      command(
        'backup <file>',
        'write the configured state to a file, also while gateways run',
        {
          details: OUTPUT_FILE,
          examples: ['state backup /backups/storegate-2030-01-31.ndjson'],
          run: withFile('to'),
        },
      ),
      command(
        'restore <file>',
        'restore a backup into the configured state, which is empty',
        {
          options: [DRY_RUN],
          examples: ['state restore /backups/storegate-2030-01-31.ndjson'],
          run: withFile('from'),
        },
      ),
      command(
        'repair',
        'let gateways start on a data folder with missing files',
        {
          details: REPAIR,
          run: lazily(
            async () => (await import('../transfer/repair.ts')).repair,
          ),
        },
      ),
    ],
  },
);

function withFile(end: 'from' | 'to') {
  return (
    terminal: Terminal,
    options: CopyOptions,
    [file = '']: readonly string[],
  ) => copy(terminal, { ...options, [end]: { file } });
}

async function copy(terminal: Terminal, options: CopyOptions): Promise<void> {
  const { saveMemory } = await import('../../run/engine.ts');
  saveMemory();
  const { copyState } = await import('../transfer/copy-state.ts');
  await copyState(terminal, options);
}

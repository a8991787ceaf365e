import { Command } from 'commander';
import type { Terminal } from '../terminal.ts';
import type { CopyOptions } from '../transfer/copy-state.ts';

const WHAT = `
Keys, tokens, the audit log, the log of bans, counters, strikes, bans and last uses are moved; of secrets there are only hashes. The limits of
plans and accounts stand in plans.yaml, which is configuration: copy that file yourself. Answers kept for Idempotency-Key stay
behind, so a call that is repeated with its key after a move is made again.`;

const PLACES = `
A place is a data folder, a file (.ndjson), a Redis as a URL, or the word redis for the one of the configuration. A password in a
URL can be seen by others in the list of processes: better set REDIS_URL and say redis.`;

const REPAIR = `
A gateway refuses to start if a file of its data folder is missing or emptied, and names the file. Put the file back if you can. Only
if it is lost, run this command: counters and bans that were in it begin anew, and keys that were in it are refused.

Example:
  $ storegate state repair`;

function withHelp(command: Command, example: string): Command {
  return command.addHelpText('after', `${WHAT}\n${PLACES}\n\nExample:\n  $ storegate ${example}`);
}

/** Copies a state, as the options say. */
type Copy = (options: CopyOptions) => Promise<void>;

/** Moves whole states: between folder and Redis, to files and back. */
export function stateCommand(terminal: Terminal): Command {
  const state = new Command('state').description('back up, restore and move all that a gateway remembers');
  const copy: Copy = async (options) => {
    const { saveMemory } = await import('../../run/engine.ts');
    saveMemory();
    const { copyState } = await import('../transfer/copy-state.ts');
    await copyState(terminal, options);
  };
  for (const add of [addExport, addImport, addCopy, addBackup, addRestore]) add(state, copy);
  addRepair(state, terminal);
  return state;
}

function addExport(state: Command, copy: Copy): void {
  withHelp(
    state
      .command('export')
      .description('write the whole state into a file, also while gateways run')
      .argument('<file>', 'a file that is not there yet; only its owner can read it')
      .option('--from <place>', 'another state than that of the configuration')
      .option('--without-bans', 'leave out the log of bans, which versions without one cannot read')
      .option('--json', 'print JSON'),
    'state export state.ndjson',
  ).action((file: string, options: CopyOptions) => copy({ ...options, to: { file } }));
}

function addImport(state: Command, copy: Copy): void {
  withHelp(
    state
      .command('import')
      .description('take a file into a state that is empty or an earlier copy; done again, it changes nothing')
      .argument('<file>', 'written by state export or state backup; checked whole before anything is taken in')
      .option('--to <place>', 'another state than that of the configuration')
      .option('--dry-run', 'only say what would be done')
      .option('--json', 'print JSON'),
    'state import state.ndjson --dry-run',
  ).action((file: string, options: CopyOptions) => copy({ ...options, from: { file } }));
}

function addCopy(state: Command, copy: Copy): void {
  withHelp(
    state
      .command('copy')
      .description('copy a state to an empty place; done again, it brings what has changed since')
      .requiredOption('--from <place>', 'a data folder, a Redis or a file; gateways may be running there')
      .requiredOption('--to <place>', 'a Redis, a file, or a data folder that no gateway uses')
      .option('--dry-run', 'only say what would be done')
      .option('--json', 'print JSON'),
    'state copy --from data --to redis',
  ).action(copy);
}

function addBackup(state: Command, copy: Copy): void {
  withHelp(
    state
      .command('backup')
      .description('write the state of the configuration into a file, also while gateways run')
      .argument('<file>', 'a file that is not there yet; only its owner can read it')
      .option('--json', 'print JSON'),
    'state backup /backups/storegate-2030-01-31.ndjson',
  ).action((file: string, options: CopyOptions) => copy({ ...options, to: { file } }));
}

function addRestore(state: Command, copy: Copy): void {
  withHelp(
    state
      .command('restore')
      .description('take a backup into the state of the configuration, which must be empty or an earlier copy')
      .argument('<file>', 'written by state backup or state export; checked whole before anything is taken in')
      .option('--dry-run', 'only say what would be done')
      .option('--json', 'print JSON'),
    'state restore /backups/storegate-2030-01-31.ndjson',
  ).action((file: string, options: CopyOptions) => copy({ ...options, from: { file } }));
}

function addRepair(state: Command, terminal: Terminal): void {
  state
    .command('repair')
    .description('let gateways start on a data folder that lacks files, without what was in them')
    .option('--json', 'print JSON')
    .addHelpText('after', REPAIR)
    .action(async (options: { json?: boolean }) => {
      const { repair } = await import('../transfer/repair.ts');
      await repair(terminal, options);
    });
}

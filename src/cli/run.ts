import { Command, CommanderError } from 'commander';
import { isOfDisk } from '../common/errors/disk.ts';
import { plainReason } from '../common/errors/plain-reason.ts';
import { isExpected } from '../common/expected-error.ts';
import { maskSecrets } from '../common/secret-mask.ts';
import { readVersion } from '../common/version.ts';
import { NotSaved } from '../ledger/store.ts';
import { addCommand, describe, GLOBAL_OPTIONS } from './command.ts';
import { accountCommands } from './commands/accounts.ts';
import { auditCommands } from './commands/audit.ts';
import { banCommands } from './commands/bans.ts';
import { completionCommand } from './commands/completion.ts';
import { configCommands, reloadCommand } from './commands/config.ts';
import { explainCommand } from './commands/explain.ts';
import { keyCommands } from './commands/keys.ts';
import { checkCommand, initCommand, serveCommand } from './commands/local.ts';
import { planCommands } from './commands/plans.ts';
import { requestsCommand } from './commands/requests.ts';
import { stateCommands } from './commands/state.ts';
import { backendsCommand, statusCommand } from './commands/status.ts';
import { storeCommand } from './commands/store.ts';
import { tokenCommands } from './commands/tokens.ts';
import { topCommand } from './commands/top.ts';
import { usageCommands } from './commands/usage.ts';
import { webhookCommands } from './commands/webhooks.ts';
import { type CallFailure, CommandError } from './connect/api.ts';
import type { Terminal } from './terminal.ts';

export const EXIT_CODES = [
  '0  success',
  '1  command failed',
  '2  invalid usage; for status: down',
  '3  gateway unreachable or access denied',
];

const EXIT_CODE_OF: Readonly<Record<CallFailure, number>> = {
  failed: 1,
  usage: 2,
  down: 2,
  shut: 3,
  denied: 3,
  lost: 3,
};

const MAX_HELP_WIDTH = 100;

export async function run(
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const program = createProgram(terminal);
  try {
    await program.parseAsync(args.length === 0 ? ['serve'] : args, {
      from: 'user',
    });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    terminal.err(`${maskSecrets(messageOf(error))}\n`);
    return error instanceof CommandError ? EXIT_CODE_OF[error.failure] : 1;
  }
}

/** The stack only of a bug. */
function messageOf(error: unknown): string {
  if (isExpected(error)) return error.message;
  if (isOfDisk(error) || error instanceof NotSaved)
    return `The data folder cannot be read or written: ${plainReason(error)}. Free space, or correct its permissions.`;
  return error instanceof Error
    ? (error.stack ?? error.message)
    : String(error);
}

export function createProgram(terminal: Terminal): Command {
  const program = new Command('storegate')
    .description('API gateway and rate-limiting proxy.')
    .usage('[command] [options]')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpCommand(false)
    .addHelpText('after', '\nWithout a command: serve.')
    .addHelpText(
      'after',
      `\nExit codes:\n${EXIT_CODES.map((line) => `  ${line}`).join('\n')}`,
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ storegate keys create --plan free --account acme',
    );
  for (const option of GLOBAL_OPTIONS) program.addOption(option);
  const commands = [
    initCommand,
    serveCommand,
    storeCommand(terminal.env.STOREGATE_DATA || 'data'),
    checkCommand,
    statusCommand,
    backendsCommand,
    topCommand,
    explainCommand,
    requestsCommand,
    configCommands,
    reloadCommand,
    keyCommands,
    accountCommands,
    banCommands,
    usageCommands,
    planCommands,
    auditCommands,
    tokenCommands,
    webhookCommands,
    stateCommands,
    completionCommand,
  ];
  for (const spec of commands) addCommand(terminal, program, spec);
  addHelp(program);
  configure(program, terminal, '');
  return program;
}

/** Commander does not end the process, masks secrets, and points to the help of the command. */
function configure(
  command: Command,
  terminal: Terminal,
  parents: string,
): void {
  const path = `${parents} ${command.name()}`.trim();
  command
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: (text) => terminal.err(maskSecrets(text)),
    })
    .configureHelp({
      helpWidth: Math.min(terminal.width ?? MAX_HELP_WIDTH, MAX_HELP_WIDTH),
      optionDescription: describe,
    })
    .helpOption('-h, --help', 'show help')
    .showHelpAfterError(`Run '${path} --help' for usage.`);
  for (const inner of command.commands) configure(inner, terminal, path);
}

/** Commander's own `help` reads the first word only. */
function addHelp(program: Command): void {
  program
    .command('help [command...]')
    .description('show help for a command')
    .action((names: string[]) => {
      let found = program;
      for (const name of names) {
        const inner = found.commands.find((command) => command.name() === name);
        if (!inner)
          return found.error(`error: unknown command ${JSON.stringify(name)}`, {
            exitCode: 2,
          });
        found = inner;
      }
      found.help();
    });
}

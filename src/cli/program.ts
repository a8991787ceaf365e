import { Command } from 'commander';
import { maskSecrets } from '../common/secret-mask.ts';
import { readVersion } from '../common/version.ts';
import { accountsCommand } from './commands/accounts.ts';
import { auditCommand } from './commands/audit.ts';
import { bansCommand } from './commands/bans.ts';
import { addCheck } from './commands/check.ts';
import { completionCommand } from './commands/completion.ts';
import { configCommand, reloadCommand } from './commands/config.ts';
import { explainCommand } from './commands/explain.ts';
import { helpCommand } from './commands/help.ts';
import { historyCommand } from './commands/history.ts';
import { keysCommand } from './commands/keys.ts';
import { plansCommand } from './commands/plans.ts';
import { requestsCommand } from './commands/requests.ts';
import { addServe } from './commands/serve.ts';
import { stateCommand } from './commands/state.ts';
import { statusCommand } from './commands/status.ts';
import { addStore } from './commands/store.ts';
import { storesCommand } from './commands/stores.ts';
import { tokensCommand } from './commands/tokens.ts';
import { topCommand } from './commands/top.ts';
import { usageCommand } from './commands/usage.ts';
import { webhooksCommand } from './commands/webhooks.ts';
import type { Terminal } from './terminal.ts';

/** The meaning of the exit codes of every command. */
export const EXIT_CODES = [
  '0  done',
  '1  it could not be done; the message says why, and nothing was changed unless it says so',
  '2  the command line is wrong: a command, an option, an argument, or one of their values',
  '3  the gateway could not be reached, or did not let you in',
];

/** The whole command line. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('storegate')
    .description('An API gateway and rate-limiting proxy in front of a store service.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpCommand(false)
    .addHelpText('after', `\nExit codes:\n${EXIT_CODES.map((line) => `  ${line}`).join('\n')}`);
  addServe(program, terminal);
  addStore(program, terminal);
  addCheck(program, terminal);
  for (const command of [
    statusCommand(terminal),
    storesCommand(terminal),
    topCommand(terminal),
    historyCommand(terminal),
    explainCommand(terminal),
    requestsCommand(terminal),
    configCommand(terminal),
    reloadCommand(terminal),
    keysCommand(terminal),
    accountsCommand(terminal),
    bansCommand(terminal),
    usageCommand(terminal),
    plansCommand(terminal),
    auditCommand(terminal),
    tokensCommand(terminal),
    webhooksCommand(terminal),
    stateCommand(terminal),
    completionCommand(program, terminal),
    helpCommand(program),
  ]) {
    program.addCommand(command);
  }
  configure(program, terminal);
  return program;
}

/** Applies to every command: commander never ends the process, writes only to the terminal, shows no key, and points to the help. */
function configure(command: Command, terminal: Terminal): void {
  command
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: (text) => terminal.err(maskSecrets(text)) })
    .configureHelp({ helpWidth: 100 })
    .showHelpAfterError('(add --help to see what there is)');
  for (const inner of command.commands) configure(inner, terminal);
}

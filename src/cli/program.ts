import { Command } from 'commander';
import { maskSecrets } from '../common/secret-mask.ts';
import { readVersion } from '../common/version.ts';
import { describe, GLOBAL_OPTIONS } from './command.ts';
import { addAccounts } from './commands/accounts.ts';
import { addAudit } from './commands/audit.ts';
import { addBans } from './commands/bans.ts';
import { addCheck } from './commands/check.ts';
import { addCompletion } from './commands/completion.ts';
import { addConfig, addReload } from './commands/config.ts';
import { addExplain } from './commands/explain.ts';
import { addHelp } from './commands/help.ts';
import { addHistory } from './commands/history.ts';
import { addInit } from './commands/init.ts';
import { addKeys } from './commands/keys.ts';
import { addPlans } from './commands/plans.ts';
import { addRequests } from './commands/requests.ts';
import { addServe } from './commands/serve.ts';
import { addState } from './commands/state.ts';
import { addStatus } from './commands/status.ts';
import { addStore } from './commands/store.ts';
import { addStores } from './commands/stores.ts';
import { addTokens } from './commands/tokens.ts';
import { addTop } from './commands/top.ts';
import { addUsage } from './commands/usage.ts';
import { addVersion } from './commands/version.ts';
import { addWebhooks } from './commands/webhooks.ts';
import type { Terminal } from './terminal.ts';

export const EXIT_CODES = [
  '0  success',
  '1  command failed',
  '2  invalid usage',
  '3  gateway unreachable or access denied',
];

const COMMANDS = [
  ...[addInit, addServe, addStore, addCheck, addStatus, addStores, addTop, addHistory, addExplain, addRequests],
  ...[addConfig, addReload, addKeys, addAccounts, addBans, addUsage, addPlans, addAudit, addTokens, addWebhooks],
  ...[addState, addCompletion, addVersion, addHelp],
];

const MAX_HELP_WIDTH = 100;

export function createProgram(terminal: Terminal): Command {
  const program = new Command('storegate')
    .description('API gateway and rate-limiting proxy.')
    .usage('[command] [options]')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpCommand(false)
    .addHelpText('after', '\nWithout a command: serve.')
    .addHelpText('after', `\nExit codes:\n${EXIT_CODES.map((line) => `  ${line}`).join('\n')}`)
    .addHelpText('after', '\nExample:\n  $ storegate keys create --plan free --account acme');
  for (const option of GLOBAL_OPTIONS) program.addOption(option);
  for (const add of COMMANDS) add(program, terminal);
  configure(program, terminal, '');
  return program;
}

/** Commander does not end the process, masks secrets, and points to the help of the command. */
function configure(command: Command, terminal: Terminal, parents: string): void {
  const path = `${parents} ${command.name()}`.trim();
  command
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: (text) => terminal.err(maskSecrets(text)) })
    .configureHelp({
      helpWidth: Math.min(terminal.width ?? MAX_HELP_WIDTH, MAX_HELP_WIDTH),
      optionDescription: describe,
    })
    .helpOption('-h, --help', 'show help')
    .showHelpAfterError(`Run '${path} --help' for usage.`);
  for (const inner of command.commands) configure(inner, terminal, path);
}

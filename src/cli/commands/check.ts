import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { formatProblem as formatContractProblem, loadContract } from '../../contract/contract.ts';
import type { Terminal } from '../terminal.ts';

export function addCheck(program: Command, terminal: Terminal): void {
  program
    .command('check')
    .description('check the configuration, the plans and the contract, as serve would read them')
    .addHelpText(
      'after',
      '\nExit code 0: all is well. 1: every mistake has been told, one a line.\n\nExample:\n  $ storegate check && systemctl reload storegate',
    )
    .action(() => {
      const config = loadConfig(terminal);
      const contract = loadContract(config.contract.file, { unknownQuery: config.contract.unknownQuery });
      for (const note of contract.notes) terminal.err(`note: ${formatContractProblem(note)}\n`);
      const { plans } = config.plans;
      terminal.out(`All is well: ${plans.size} plans, ${contract.operations.length} operations.\n`);
    });
}

import { loadConfig } from '../config/load.ts';
import { formatProblem, loadContract } from '../contract/contract.ts';
import type { Terminal } from './terminal.ts';

/** Checks configuration, plans and contract as `serve` would read them. Throws an expected error that has every mistake. */
export function check(terminal: Terminal): void {
  const config = loadConfig(terminal);
  const contract = loadContract(config.contract.file, { unknownQuery: config.contract.unknownQuery });
  for (const note of contract.notes) terminal.err(`note: ${formatProblem(note)}\n`);
  const { plans } = config.plans;
  terminal.out(`All is well: ${plans.size} plans, ${contract.operations.length} operations.\n`);
}

import type { Command } from 'commander';
import type { Terminal } from '../terminal.ts';

export function addCheck(program: Command, terminal: Terminal): void {
  program
    .command('check')
    .description('check the configuration, the plans and the contract, as serve would read them')
    .addHelpText(
      'after',
      '\nExit code 0: all is well. 1: every mistake has been told, one a line.\n\nExample:\n  $ storegate check && systemctl reload storegate',
    )
    .action(async () => {
      const { check } = await import('../check.ts');
      await check(terminal);
    });
}

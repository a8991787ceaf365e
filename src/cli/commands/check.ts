import type { Command } from 'commander';
import { addCommand, optionsOf } from '../command.ts';
import type { Terminal } from '../terminal.ts';

export function addCheck(program: Command, terminal: Terminal): void {
  addCommand(program, 'check', {
    about: 'check settings, plans and contract',
    details: 'Exit code 1: the files have mistakes. Each is printed with file, line and column.',
    examples: ['check && systemctl reload storegate'],
  }).action(async (...given) => {
    const { check } = await import('../check.ts');
    await check(terminal, optionsOf(given));
  });
}

import type { Command } from 'commander';
import { addCommand, option, optionsOf } from '../command.ts';
import type { Terminal } from '../terminal.ts';

export function addServe(program: Command, terminal: Terminal): void {
  addCommand(program, 'serve', {
    about: 'run the gateway, and a demo store unless STORE_URL is set',
    options: [option('--no-demo-keys', 'create no demo keys on the first start in a terminal')],
    details: 'The gateway reloads plans, settings and contract when the files change, and on SIGHUP.',
    examples: ['serve'],
  }).action(async (...given) => {
    const { serve } = await import('../serve.ts');
    await serve(terminal, optionsOf<{ demoKeys: boolean }>(given));
  });
}

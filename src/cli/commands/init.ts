import type { Command } from 'commander';
import { addCommand, option, optionsOf } from '../command.ts';
import type { InitOptions } from '../init.ts';
import type { Terminal } from '../terminal.ts';

export function addInit(program: Command, terminal: Terminal): void {
  addCommand(program, 'init', {
    about: 'protect an API: write settings and plans, make a key, run the gateway',
    options: [
      option('--backend <url>', 'URL of the API, such as http://127.0.0.1:3000'),
      option('--contract <place>', 'OpenAPI document, a file or URL; none: requests are not validated'),
      option('--directory <folder>', 'folder for gateway.yaml, plans.yaml and data (default: this one)'),
      option('--yes', 'ask nothing'),
      option('--no-start', 'do not run the gateway'),
    ],
    details: 'Asks for the backend and the contract on a terminal. Never overwrites a file.',
    examples: ['init --backend http://127.0.0.1:3000 --contract ./openapi.yaml'],
  }).action(async (...given) => {
    const { init } = await import('../init.ts');
    await init(terminal, optionsOf<InitOptions>(given));
  });
}

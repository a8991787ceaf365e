import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { addCommand, option, optionsOf } from '../command.ts';
import type { Terminal } from '../terminal.ts';

export function storeFile(folder: string): string {
  return join(folder, 'store.db');
}

export function addStore(program: Command, terminal: Terminal): void {
  addCommand(program, 'store', {
    about: 'run the demo store without a gateway',
    options: [
      option('--host <host>', 'listen address', (text) => text, '127.0.0.1'),
      option('--port <port>', 'listen port; 0: any free port', port, 8081),
      option('--file <file>', 'database file', (text) => text, storeFile(terminal.env.STOREGATE_DATA || 'data')),
    ],
    examples: ['store --port 8081'],
  }).action(async (...given) => {
    const { host, port, file } = optionsOf<{ host: string; port: number; file: string }>(given);
    const { runStore } = await import('../store.ts');
    await runStore(terminal, resolve(terminal.cwd, file), { host, port });
  });
}

function port(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= 65_535)) throw new InvalidArgumentError('Use a number from 0 to 65535.');
  return number;
}

import { join, resolve } from 'node:path';
import { type CommandSpec, command, option, reader } from '../command.ts';

export function storeFile(folder: string): string {
  return join(folder, 'store.db');
}

const PORT = reader(
  (text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535,
  'Use a number from 0 to 65535.',
  Number,
);

/** `data`: the folder of the gateway's data. */
export const storeCommand = (data: string): CommandSpec =>
  command('store', 'run the demo store without a gateway', {
    options: [
      option('--host <host>', 'listen address', (text) => text, '127.0.0.1'),
      option('--port <port>', 'listen port; 0: any free port', PORT, 8081),
      option('--file <file>', 'database file', (text) => text, storeFile(data)),
    ],
    examples: ['store --port 8081'],
    async run(
      terminal,
      { host, port, file }: { host: string; port: number; file: string },
    ) {
      const { runStore } = await import('../store.ts');
      await runStore(terminal, resolve(terminal.cwd, file), { host, port });
    },
  });

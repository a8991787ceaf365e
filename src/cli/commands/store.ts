import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { Terminal } from '../terminal.ts';

/** The store's file inside a data folder. */
export function storeFile(folder: string): string {
  return join(folder, 'store.db');
}

export function addStore(program: Command, terminal: Terminal): void {
  program
    .command('store')
    .description('run the store service alone, without a gateway')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 lets the system choose', port, 8081)
    .option('--file <file>', 'database file', storeFile(terminal.env.STOREGATE_DATA || 'data'))
    .addHelpText(
      'after',
      '\nExample:\n  storegate store --port 8081 &\n  STORE_URL=http://127.0.0.1:8081 storegate serve',
    )
    .action(async ({ host, port, file }: { host: string; port: number; file: string }) => {
      const { runStore } = await import('../store.ts');
      await runStore(terminal, resolve(terminal.cwd, file), { host, port });
    });
}

function port(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= 65_535)) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return number;
}

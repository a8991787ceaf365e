import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { ExpectedError } from '../../common/expected-error.ts';
import { seedStore } from '../../store/seed.ts';
import { createStore, type Store } from '../../store/store.ts';
import { type Terminal, untilStopped } from '../terminal.ts';

/** The store cannot run; the message says why, in one sentence. */
export class StoreError extends ExpectedError {
  override name = 'StoreError';
}

/** The store's file inside a data folder. */
export function storeFile(folder: string): string {
  return join(folder, 'store.db');
}

/** Opens the store on `file`, fills it if it is new, and listens. Before it throws StoreError, it closes everything. */
export async function startStore(
  file: string,
  address: { host: string; port: number },
): Promise<{ store: Store; url: string }> {
  let store: Store | null = null;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    store = createStore({ file });
    seedStore(store);
    const { url } = await store.listen(address);
    return { store, url };
  } catch (error) {
    await store?.close();
    throw new StoreError(error instanceof Error ? error.message : String(error), { cause: error });
  }
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
      const { store, url } = await startStore(resolve(terminal.cwd, file), { host, port });
      terminal.out(`The store listens on ${url}\n`);
      await untilStopped(terminal);
      await store.close();
    });
}

function port(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= 65_535)) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return number;
}

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createPrivateFile } from '../common/folder.ts';
import type { Address } from '../config/config.ts';
import { seedStore } from '../store/seed.ts';
import { createStore, type Store } from '../store/store.ts';
import { CommandError } from './connect/api.ts';
import { type Terminal, untilStopped } from './terminal.ts';

/** Throws CommandError. */
export async function startStore(
  file: string,
  address: Address,
): Promise<{ store: Store; url: string }> {
  let store: Store | null = null;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    createPrivateFile(file);
    store = createStore(file);
    seedStore(store);
    const { url } = await store.listen(address);
    return { store, url };
  } catch (error) {
    await store?.close();
    throw new CommandError(
      error instanceof Error ? error.message : String(error),
      {
        cause: error,
      },
    );
  }
}

export async function runStore(
  terminal: Terminal,
  file: string,
  address: Address,
): Promise<void> {
  const { store, url } = await startStore(file, address);
  terminal.out(`The store listens on ${url}\n`);
  await untilStopped(terminal);
  await store.close();
}

import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { RowReply, RowRequest } from './pending-rows.ts';
import type { RowValue } from './row-file.ts';

const THREAD = resolve(import.meta.dirname, 'thread.ts');

/** Rows could not be written. They are written later, unless newer ones take their place. */
export class RowWriteError extends Error {
  override name = 'RowWriteError';
}

export type RowWriter = ReturnType<typeof createRowWriter>;

/** Writes the rows of a folder in a thread, which begins with the first row. */
export function createRowWriter(folder: string) {
  const waiting = new Map<number, (error: string | null) => void>();
  let thread: Worker | null = null;
  let lastNumber = 0;
  let isClosing = false;

  function start() {
    const started = new Worker(THREAD, { workerData: folder });
    started.unref();
    started.on('message', ({ number, error }: RowReply) => {
      waiting.get(number)?.(error);
      waiting.delete(number);
      // Otherwise it would keep an idle process.
      if (waiting.size === 0 && !isClosing) started.unref();
    });
    const ended = (reason: string) => {
      if (thread === started) thread = null;
      for (const settle of waiting.values()) settle(reason);
      waiting.clear();
    };
    started.on('error', (error) => ended(error.message));
    started.on('exit', () => ended('the thread that writes rows has ended'));
    return started;
  }

  function send(request: RowRequest) {
    thread ??= start();
    thread.postMessage(request);
  }

  function ask(of: (number: number) => RowRequest): Promise<void> {
    const number = ++lastNumber;
    return new Promise((resolve, reject) => {
      waiting.set(number, (error) =>
        error === null ? resolve() : reject(new RowWriteError(error)),
      );
      send(of(number));
      thread!.ref();
    });
  }

  return {
    put(
      kind: string,
      names: readonly string[],
      values: readonly (RowValue | null)[],
    ) {
      send({ type: 'put', kind, names, values });
    },
    /** Resolves when every row that was put survives power loss. Rejects with RowWriteError. */
    commit: () =>
      thread === null
        ? Promise.resolve()
        : ask((number) => ({ type: 'commit', number })),
    /** Resolves when the row survives power loss. Rejects with RowWriteError: it is as before. */
    write: (kind: string, name: string, value: RowValue | null) =>
      ask((number) => ({ type: 'write', number, kind, name, value })),
    /** Rejects with RowWriteError if rows are lost. */
    async close() {
      if (thread === null) return;
      isClosing = true;
      const ended = new Promise((resolve) => thread!.once('exit', resolve));
      try {
        await ask((number) => ({ type: 'close', number }));
      } finally {
        await ended;
      }
    },
  };
}

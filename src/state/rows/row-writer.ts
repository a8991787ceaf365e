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

type Done = Omit<RowReply, 'number'>;

/** Writes the rows of a folder in a thread, which begins with the first row. */
export function createRowWriter(folder: string) {
  const waiting = new Map<number, (answer: Done) => void>();
  let thread: Worker | null = null;
  let lastNumber = 0;
  let isClosing = false;

  function start() {
    const started = new Worker(THREAD, { workerData: folder });
    started.unref();
    started.on('message', (answer: RowReply) => {
      waiting.get(answer.number)?.(answer);
      waiting.delete(answer.number);
      // Otherwise it would keep an idle process.
      if (waiting.size === 0 && !isClosing) started.unref();
    });
    const ended = (reason: string) => {
      if (thread === started) thread = null;
      for (const answer of waiting.values()) answer({ error: reason });
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

  function ask(of: (number: number) => RowRequest): Promise<Done> {
    const number = ++lastNumber;
    return new Promise((resolve, reject) => {
      waiting.set(number, (done) =>
        done.error === null
          ? resolve(done)
          : reject(new RowWriteError(done.error)),
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
    async commit() {
      if (thread !== null) await ask((number) => ({ type: 'commit', number }));
    },
    /** Resolves when the rows survive power loss. Rejects with RowWriteError: they are as before. */
    async write(kind: string, rows: ReadonlyMap<string, RowValue | null>) {
      await ask((number) => ({ type: 'write', number, kind, rows }));
    },
    /** Binary rows; `null`: missing. Rejects with RowWriteError. */
    async read(
      kind: string,
      names: readonly string[],
    ): Promise<(Buffer | null)[]> {
      if (names.length === 0) return [];
      const { values = [] } = await ask((number) => ({
        type: 'read',
        number,
        kind,
        names,
      }));
      return values.map((value) => value && bufferOf(value));
    },
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

/** A message has the bytes of a Buffer, not its class. */
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);

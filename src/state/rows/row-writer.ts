import { resolve } from 'node:path';
import { createThread } from '../../common/thread.ts';
import { NotSaved } from '../../ledger/store.ts';
import type { RowReply, RowRequest } from './pending-rows.ts';
import type { RowValue } from './row-file.ts';

const THREAD = resolve(import.meta.dirname, 'thread.ts');

/** Rows could not be written. They are written later, unless newer ones take their place. */
export class RowWriteError extends NotSaved {
  override name = 'RowWriteError';
}

export type RowWriter = ReturnType<typeof createRowWriter>;

type Done = Omit<RowReply, 'number'>;

/** Writes the rows of a folder in a thread, which begins with the first row. */
export function createRowWriter(folder: string) {
  const thread = createThread<RowRequest, RowReply>(THREAD, folder);

  async function ask(of: (number: number) => RowRequest): Promise<Done> {
    return done(await thread.ask(of));
  }

  return {
    put(
      kind: string,
      names: readonly string[],
      values: readonly (RowValue | null)[],
    ) {
      thread.send({ type: 'put', kind, names, values });
    },
    /** Resolves when every row that was put survives power loss. Rejects with RowWriteError. */
    async commit() {
      if (thread.isRunning) await ask((number) => ({ type: 'commit', number }));
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
      const reply = await thread.close((number) => ({ type: 'close', number }));
      if (reply !== null) done(reply);
    },
  };
}

function done(reply: Done): Done {
  if (reply.error !== null) throw new RowWriteError(reply.error);
  return reply;
}

/** A message has the bytes of a Buffer, not its class. */
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);

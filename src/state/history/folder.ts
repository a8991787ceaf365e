import type { History } from '../../observe/history/history.ts';
import { NotPacked, Packing, Unpacking } from '../../observe/history/packing.ts';
import { Compactor, type Packer } from '../journal/compactor.ts';
import { openSlot } from '../journal/slot.ts';

/** Includes gateways that are stopping. */
const MAX_SLOTS = 8;

export type StoredHistory = NonNullable<ReturnType<typeof storeHistory>>;

/**
 * Persists the history in the data folder, and loads the last day from there. The thread pool
 * writes each minute after it ends. Errors go to `failed` and do not stop the gateway.
 */
export function storeHistory(folder: string, history: History, failed: (error: unknown) => void) {
  function orReported(what: string, work: () => unknown): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof NotPacked)) throw error;
      failed(new Error(`${what} not understood: ${error.message}`));
    }
  }

  const numbers = { first: 1, step: 1, most: MAX_SLOTS };
  const slot = openSlot({ folder, kind: 'history', numbers, failed }, () => {
    const minutes = new Map<number, Uint8Array>();
    return {
      minutes,
      batch: (payload: Buffer, file: string) =>
        orReported(`${file} has minutes that are`, () => readBatch(payload, minutes)),
    };
  });
  if (!slot) return null;
  for (const minute of slot.reader.minutes.values())
    orReported(`${slot.name} has a minute that is`, () => history.add(minute));
  const compactor = new Compactor<Buffer>(slot.journal, entriesOf(history), new MinutePacker());
  return {
    mark: (start: number) => compactor.mark(String(start)),
    close: () => slot.close(compactor),
  };
}

function readBatch(payload: Buffer, minutes: Map<number, Uint8Array>): void {
  const batch = new Unpacking(payload);
  while (!batch.isAtEnd) {
    const start = batch.number();
    minutes.set(start, batch.part());
  }
}

function entriesOf(history: History) {
  return {
    get size() {
      return history.minutes.size;
    },
    *names() {
      for (const start of history.minutes.keys()) yield String(start);
    },
    read: (name: string) => history.minutes.get(Number(name)),
  };
}

class MinutePacker implements Packer<Buffer> {
  #packing = new Packing();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(name: string, minute: Buffer): void {
    this.#packing.number(Number(name));
    this.#packing.part(minute);
    this.#size += minute.length + 16;
  }

  take(): Buffer {
    const { bytes } = this.#packing;
    this.#packing = new Packing();
    this.#size = 0;
    return bytes;
  }
}

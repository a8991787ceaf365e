import type { History } from '../../observe/history/history.ts';
import { NotPacked, Packing, Unpacking } from '../../observe/history/packing.ts';
import { Compactor, type Packer } from '../journal/compactor.ts';
import { Journal } from '../journal/journal.ts';
import { atPlace, leavePlace, type Place } from '../journal/place.ts';
import { inWords, readJournal } from '../journal/read.ts';

/** Gateways that may keep their history in one folder, beside as many that are about to end. */
const PLACES = 8;

export interface StoredHistory {
  /** A minute, told by its start, has changed. */
  mark(start: number): void;
  /** Writes what is left, as far as that can be. */
  close(): Promise<void>;
}

/**
 * Keeps a history in files of the data folder, which the next gateway there goes on with; what they have of the last day is added to it
 * now. A minute is written when it has ended, by the thread pool. `failed` is told what went wrong; the gateway goes on without.
 */
export function keepHistory(folder: string, history: History, failed: (error: unknown) => void): StoredHistory | null {
  const numbers = { first: 1, step: 1, most: PLACES };
  return atPlace({ folder, kind: 'history', numbers }, (place) => keepAt(folder, place, history, failed), failed);
}

function keepAt(folder: string, place: Place, history: History, failed: (error: unknown) => void): StoredHistory {
  const { reader, generations } = readJournal(folder, place.name, () => {
    const minutes = new Map<number, Uint8Array>();
    return {
      minutes,
      batch: (payload: Buffer, file: string) => readBatch(payload, file, minutes, failed),
      damaged: (damage: Parameters<typeof inWords>[0]) => failed(new Error(inWords(damage))),
    };
  });
  for (const minute of reader.minutes.values()) addTo(history, minute, place.name, failed);
  const journal = new Journal({ folder, name: place.name, older: generations, unsaved: failed });
  const keeper = new Compactor<Buffer>(journal, livingIn(history), new MinutePacker());
  return {
    mark: (start) => keeper.mark(String(start)),
    close: () => leavePlace(place, keeper),
  };
}

/** Of each minute the last that was written. */
function readBatch(
  payload: Buffer,
  file: string,
  minutes: Map<number, Uint8Array>,
  failed: (error: unknown) => void,
): void {
  try {
    const batch = new Unpacking(payload);
    while (!batch.isAtEnd) {
      const start = batch.number();
      minutes.set(start, batch.part());
    }
  } catch (error) {
    if (!(error instanceof NotPacked)) throw error;
    failed(new Error(`${file} has minutes that are not understood: ${error.message}`));
  }
}

function addTo(history: History, minute: Uint8Array, name: string, failed: (error: unknown) => void): void {
  try {
    history.add(minute);
  } catch (error) {
    if (!(error instanceof NotPacked)) throw error;
    failed(new Error(`${name} has a minute that is not understood: ${error.message}`));
  }
}

function livingIn(history: History) {
  return {
    get size() {
      return history.size;
    },
    *names() {
      for (const start of history.starts()) yield String(start);
    },
    read: (name: string) => history.get(Number(name)),
  };
}

/** Minutes one after the other, each behind its start. */
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

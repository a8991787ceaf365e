import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  checkHeader,
  generationFile,
  generationOf,
  HEAD_SIZE,
  headerOf,
  isWhole,
  JournalError,
  lengthIn,
} from './format.ts';

export interface Generation {
  readonly number: number;
  readonly size: number;
}

export interface JournalReader {
  /** Called for each intact batch, oldest first. */
  batch(payload: Buffer, file: string): void;
  /** Called with a sentence for operators if the end of a file is torn or damaged. */
  damaged?(damage: string): void;
}

/** Maximum restarts because the writer removed files during the read. */
const MAX_ATTEMPTS = 100;

/**
 * Reads all generations of the journal `name` in `folder`, oldest first, even while it grows. A
 * damaged file is read up to the damage. `begin` creates the reader, again for each restart.
 * Returns the files. Throws JournalError.
 */
export function readJournal<R extends JournalReader>(
  folder: string,
  name: string,
  begin: () => R,
): { readonly reader: R; readonly generations: readonly Generation[] } {
  for (let tries = 1; ; tries++) {
    const reader = begin();
    try {
      const generations = generationsIn(folder, name).map((number) =>
        readGeneration(folder, name, number, reader),
      );
      return { reader, generations };
    } catch (error) {
      // The writer removes files when newer files contain their data.
      if (
        (error as NodeJS.ErrnoException).code !== 'ENOENT' ||
        tries === MAX_ATTEMPTS
      )
        throw error;
    }
  }
}

/** Oldest first. */
export function generationsIn(folder: string, name: string): number[] {
  const numbers = readdirSync(folder).map((file) => generationOf(file, name));
  return numbers.filter((number) => number !== null).sort((a, b) => a - b);
}

/** Oldest first. A writer may remove files meanwhile. */
export function filesOf(folder: string, name: string): Generation[] {
  return generationsIn(folder, name).flatMap((number) => {
    const status = statSync(join(folder, generationFile(name, number)), {
      throwIfNoEntry: false,
    });
    return status ? [{ number, size: status.size }] : [];
  });
}

function readGeneration(
  folder: string,
  name: string,
  number: number,
  reader: JournalReader,
): Generation {
  const file = join(folder, generationFile(name, number));
  const fd = openSync(file, 'r');
  try {
    const status = fstatSync(fd);
    if (!status.isFile())
      throw new JournalError(`${file} is not a file: move it out of the way`);
    const { size } = status;
    const read = (at: number, length: number) =>
      readAt(fd, at, Math.min(length, size - at));
    const header = headerOf(name);
    const isTorn = !checkHeader(read(0, header.length), name, file);
    const at = isTorn
      ? 0
      : readBatches(read, header.length, (payload) =>
          reader.batch(payload, file),
        );
    if (at < size)
      reader.damaged?.(
        `${file} ends torn or damaged: what stands behind byte ${at} of ${size} was not read`,
      );
    return { number, size };
  } finally {
    closeSync(fd);
  }
}

/** Returns the end of the last intact batch. */
function readBatches(
  read: (at: number, size: number) => Buffer,
  start: number,
  each: (payload: Buffer) => void,
) {
  for (let at = start; ; ) {
    const head = read(at, HEAD_SIZE);
    const length = head.length === HEAD_SIZE ? lengthIn(head) : null;
    if (length === null) return at;
    const payload = read(at + HEAD_SIZE, length);
    if (payload.length < length || !isWhole(head, payload)) return at;
    each(payload);
    at += HEAD_SIZE + length;
  }
}

function readAt(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, at + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

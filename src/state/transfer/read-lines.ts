import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { MAX_LINE, TransferError } from './file-format.ts';

const CHUNK = 256 * 1024;

export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** Without the line feed; valid until the next line is read. */
  readonly bytes: Buffer;
  /** Bytes of the file that were read before the part with this line. */
  readonly read: number;
}

/**
 * The lines of a file. Throws TransferError if it cannot be read, a line is too long, or the last line has no line
 * feed.
 */
export function* linesOf(file: string): Generator<Line> {
  const descriptor = open(file);
  try {
    let rest: Buffer = Buffer.alloc(0);
    let number = 0;
    let read = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const size = readSync(descriptor, chunk, 0, CHUNK, null);
      if (size === 0) break;
      rest = rest.length === 0 ? chunk.subarray(0, size) : Buffer.concat([rest, chunk.subarray(0, size)]);
      let from = 0;
      for (let end = rest.indexOf(10, from); end !== -1; end = rest.indexOf(10, from)) {
        yield { number: ++number, bytes: rest.subarray(from, end), read };
        from = end + 1;
      }
      rest = rest.subarray(from);
      if (rest.length > MAX_LINE)
        throw new TransferError(`${file}, line ${number + 1}: it is longer than ${MAX_LINE} bytes`);
      read += size;
    }
    if (rest.length > 0) throw new TransferError(`${file}, line ${number + 1}: it is cut off`);
  } finally {
    closeSync(descriptor);
  }
}

function open(file: string): number {
  try {
    // A plain open of a pipe without a writer would block.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if (fstatSync(descriptor).isFile()) return descriptor;
    closeSync(descriptor);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: 'the file does not exist',
      EACCES: 'it is not readable',
    };
    throw new TransferError(`cannot read ${file}: ${reasons[code ?? ''] ?? message}`, { cause: error });
  }
  throw new TransferError(`cannot read ${file}: it is not a file`);
}

import { readFileSync, statSync } from 'node:fs';
import { formatSize } from '../units.ts';

/** Bytes. */
const MAX_FILE_SIZE = 1024 * 1024;

/** A sentence whose subject is the file. */
export class UnreadableFile extends Error {}

/**
 * A regular file of at most 1 MiB, or `largest` bytes, in UTF-8.
 *
 * @throws {UnreadableFile}
 */
export function readTextFile(file: string, largest = MAX_FILE_SIZE): string {
  return decodeText(readFile(file, largest));
}

/** @throws {UnreadableFile} */
export function decodeText(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new UnreadableFile('must be UTF-8 text');
  }
}

/** @throws {UnreadableFile} */
export function checkSize(size: number, largest = MAX_FILE_SIZE): void {
  if (size > largest)
    throw new UnreadableFile(
      `must be at most ${formatSize(largest)}, has ${size} bytes`,
    );
}

/** As `readTextFile`, in any encoding. @throws {UnreadableFile} */
export function readFile(file: string, largest: number): Buffer {
  try {
    const status = statSync(file);
    if (status.isDirectory())
      throw new UnreadableFile('must be a file, is a folder');
    // A pipe or a device could block for ever or never end.
    if (!status.isFile()) throw new UnreadableFile('must be a regular file');
    checkSize(status.size, largest);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    throw new UnreadableFile(reasonOf((error as NodeJS.ErrnoException).code));
  }
}

function reasonOf(code: string | undefined): string {
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM')
    return 'cannot be read: permission denied';
  return `cannot be read (${code ?? 'unknown reason'})`;
}

import { crc32 } from 'node:zlib';
import { ExpectedError } from '../../common/expected-error.ts';

/**
 * A journal is a list of files `<name>.<generation>.log` in one folder. Each has a header line with
 * the format, followed by batches: [length, 4 bytes][CRC-32 of length and payload, 4
 * bytes][payload], numbers little-endian.
 */
const VERSION = 1;

/** Bytes before each payload. */
export const HEAD_SIZE = 8;
/** Maximum payload in bytes: a damaged length must not cause an unbounded allocation. */
export const MAX_PAYLOAD = 1 << 26;

/** A file is not a journal, or a newer version wrote it. The message names the file. */
export class JournalError extends ExpectedError {
  override name = 'JournalError';
}

export function headerOf(name: string): Buffer {
  return Buffer.from(`storegate journal ${VERSION} ${name}\n`);
}

export function headOf(payload: Uint8Array): Buffer {
  if (payload.length === 0 || payload.length > MAX_PAYLOAD) {
    throw new RangeError(
      `a batch has 1 to ${MAX_PAYLOAD} bytes, not ${payload.length}`,
    );
  }
  const head = Buffer.allocUnsafe(HEAD_SIZE);
  head.writeUInt32LE(payload.length, 0);
  head.writeUInt32LE(checksum(head, payload), 4);
  return head;
}

/** The payload length after `head`; `null`: not a valid batch head. */
export function lengthIn(head: Buffer): number | null {
  const length = head.readUInt32LE(0);
  return length > 0 && length <= MAX_PAYLOAD ? length : null;
}

export function isWhole(head: Buffer, payload: Uint8Array): boolean {
  return head.readUInt32LE(4) === checksum(head, payload);
}

/**
 * Whether `start`, the first bytes of a file, is the header of the journal `name`; `false`: torn by
 * a crash. Throws JournalError for other content.
 */
export function checkHeader(
  start: Buffer,
  name: string,
  file: string,
): boolean {
  const header = headerOf(name);
  if (start.equals(header)) return true;
  const isTorn =
    start.length < header.length &&
    start.equals(header.subarray(0, start.length));
  if (isTorn || start.every((byte) => byte === 0)) return false;
  const version = /^storegate journal (\d+) /.exec(
    start.toString('latin1'),
  )?.[1];
  if (version !== undefined && Number(version) > VERSION) {
    throw new JournalError(
      `${file} was written by a newer storegate (format ${version})`,
    );
  }
  throw new JournalError(
    `${file} is not a journal of ${name}: move it out of the way`,
  );
}

export const generationFile = (name: string, generation: number): string =>
  `${name}.${generation}.log`;

/** The generation in a file name; `null`: not a file of this journal. */
export function generationOf(file: string, name: string): number | null {
  if (!file.startsWith(`${name}.`) || !file.endsWith('.log')) return null;
  const number = file.slice(name.length + 1, -'.log'.length);
  return /^[1-9]\d{0,14}$/.test(number) ? Number(number) : null;
}

/**
 * Includes the length, so that zeros left by some file systems after power loss are not a valid
 * batch.
 */
function checksum(head: Buffer, payload: Uint8Array): number {
  return crc32(payload, crc32(head.subarray(0, 4)));
}

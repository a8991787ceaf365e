import { isUtf8 } from 'node:buffer';
import { refuse } from './faults.ts';

/** `null` if the bytes are not UTF-8 (RFC 3629). A byte order mark stays. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  return isUtf8(bytes) ? view(bytes).toString() : null;
}

/** @throws Unreadable */
export const textOf = (bytes: Uint8Array): string => decodeUtf8(bytes) ?? refuse('is not UTF-8', 'encoding');

/** Where a lenient decoder inserts U+FFFD that the bytes do not encode. */
export function firstBadByte(bytes: Uint8Array): number {
  const buffer = view(bytes);
  const text = buffer.toString();
  let offset = 0;
  let from = 0;
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', from)) {
    offset += Buffer.byteLength(text.slice(from, at));
    if (buffer.toString('latin1', offset, offset + 3) !== '\xef\xbf\xbd') return offset;
    offset += 3;
    from = at + 1;
  }
  return offset;
}

const view = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

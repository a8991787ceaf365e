import { isUtf8 } from 'node:buffer';
import { refuse } from './faults.ts';

/** `null` if the bytes are not UTF-8 (RFC 3629). A byte order mark stays. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  return isUtf8(bytes) ? view(bytes).toString() : null;
}

/** @throws Unreadable */
export const textOf = (bytes: Uint8Array): string =>
  decodeUtf8(bytes) ?? refuse('is not UTF-8', 'encoding');

/** Where a lenient decoder inserts U+FFFD that the bytes do not encode. */
export function firstBadByte(bytes: Uint8Array): number {
  const start = wellFormed(bytes);
  const buffer = view(bytes.subarray(start));
  const text = buffer.toString();
  let offset = 0;
  let from = 0;
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', from)) {
    offset += Buffer.byteLength(text.slice(from, at));
    if (buffer.toString('latin1', offset, offset + 3) !== '\xef\xbf\xbd') return start + offset;
    offset += 3;
    from = at + 1;
  }
  return start + offset;
}

/** The length of a well-formed beginning: all but the last few bytes. */
function wellFormed(bytes: Uint8Array): number {
  let [low, high] = [0, bytes.length];
  while (high - low > 8) {
    let middle = (low + high) >> 1;
    while (middle > low && (bytes[middle]! & 0xc0) === 0x80) middle--;
    if (middle === low) break;
    if (isUtf8(bytes.subarray(low, middle))) low = middle;
    else high = middle;
  }
  return low;
}

const view = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

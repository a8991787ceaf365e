import { isUtf8 } from 'node:buffer';
import { refuse } from './faults.ts';

/** `null` if the bytes are not UTF-8 (RFC 3629). A byte order mark stays. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  if (!isUtf8(bytes)) return null;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

/** @throws Unreadable */
export const textOf = (bytes: Uint8Array): string =>
  decodeUtf8(bytes) ?? refuse('is not UTF-8', 'encoding');

/** Where a lenient decoder inserts U+FFFD that the bytes do not encode. */
export function firstBadByte(bytes: Uint8Array): number {
  for (let at = wellFormed(bytes); ; ) {
    const lead = bytes[at]!;
    const end = at + (lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);
    if (!isUtf8(bytes.subarray(at, end))) return at;
    at = end;
  }
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

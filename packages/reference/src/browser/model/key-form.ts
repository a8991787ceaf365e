/**
 * `own`: form and checksum of a key of this gateway. `damaged`: only the prefix matches. `other`:
 * possibly a key of another system. `impossible`: not allowed in a header (RFC 9110 section 5.5).
 * No form implies that the key is valid.
 */
export type KeyForm = 'own' | 'damaged' | 'other' | 'impossible';

export function formOf(text: string): KeyForm {
  if (!/^[!-~]+$/.test(text)) return 'impossible';
  if (!text.startsWith('sg_')) return 'other';
  return SHAPE.test(text) &&
    text.endsWith(`_${checksum(text.slice(0, -CHECKSUM_DIGITS - 1))}`)
    ? 'own'
    : 'damaged';
}

/** Equals the rule of src/records/keys/secret.ts, which needs modules of Node.js. A test compares them. */
const SHAPE = /^sg_[a-z]{1,12}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/;
const ALPHABET =
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_DIGITS = 6;

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < CHECKSUM_DIGITS; i++) {
    digits = ALPHABET[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function crc32(text: string): number {
  let rest = -1;
  for (let i = 0; i < text.length; i++) {
    rest ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++)
      rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  }
  return ~rest >>> 0;
}

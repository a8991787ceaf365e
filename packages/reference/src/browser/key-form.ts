/**
 * The form of a text given as a key. `own`: form and checksum are those of a key of this gateway. `damaged`: only the prefix
 * is. `other`: it can be a key of another system. `impossible`: no header can carry it (RFC 9110 section 5.5). No form says
 * whether the key is valid.
 */
export type KeyForm = 'own' | 'damaged' | 'other' | 'impossible';

/** `text` has no space around it. */
export function formOf(text: string): KeyForm {
  if (!/^[!-~]+$/.test(text)) return 'impossible';
  if (!text.startsWith('sg_')) return 'other';
  return SHAPE.test(text) && text.endsWith(`_${checksum(text.slice(0, -CHECKSUM_DIGITS - 1))}`) ? 'own' : 'damaged';
}

/** The rule of src/keys/secret.ts, which needs modules of Node.js. A test holds the two equal. */
const SHAPE = /^sg_[a-z]{1,12}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
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

/** CRC-32 of ASCII text, the same as zlib's. */
function crc32(text: string): number {
  let rest = -1;
  for (let i = 0; i < text.length; i++) {
    rest ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  }
  return ~rest >>> 0;
}

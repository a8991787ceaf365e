export const MAX_IMPORTED_LENGTH = 512;

/** Visible ASCII with inner spaces: nothing else survives unchanged in a header. */
const PRESENTABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export function isPresentable(secret: string): boolean {
  return secret.length <= MAX_IMPORTED_LENGTH && PRESENTABLE.test(secret);
}

const PREFIX = /^sha-?256[:=_-]/i;
const HEX = /^[0-9a-f]{64}$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/**
 * Accepts hexadecimal digits, base64 or base64url, with or without a prefix such as `sha256:`. Returns base64url;
 * `null` if invalid.
 */
export function readHash(text: string): string | null {
  const digits = text.replace(PREFIX, '');
  if (HEX.test(digits)) return Buffer.from(digits, 'hex').toString('base64url');
  if (!BASE64.test(digits)) return null;
  const read = Buffer.from(digits, 'base64').toString('base64url');
  // The last of 43 characters carries four bits. Further set bits mean a truncated or invented hash.
  return read === digits.replace('=', '').replaceAll('+', '-').replaceAll('/', '_') ? read : null;
}

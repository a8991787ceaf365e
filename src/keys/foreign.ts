/** Characters in the longest secret of another system. */
export const MAX_FOREIGN_LENGTH = 512;

/** Visible ASCII, with spaces inside: callers can put nothing else into a header so that it arrives as it was sent. */
const PRESENTABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Whether a caller can present this secret of another system. */
export function isPresentable(secret: string): boolean {
  return secret.length <= MAX_FOREIGN_LENGTH && PRESENTABLE.test(secret);
}

const PREFIX = /^sha-?256[:=_-]/i;
const HEX = /^[0-9a-f]{64}$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/**
 * A SHA-256 as other systems write it: 64 hexadecimal digits, base64 or base64url, with a prefix such as `sha256:` or
 * without. Answers 43 characters of base64url; `null`: it is none.
 */
export function readHash(text: string): string | null {
  const digits = text.replace(PREFIX, '');
  if (HEX.test(digits)) return Buffer.from(digits, 'hex').toString('base64url');
  if (!BASE64.test(digits)) return null;
  const read = Buffer.from(digits, 'base64').toString('base64url');
  // The last of 43 characters carries four bits. More of them set were cut off or made up.
  return read === digits.replace('=', '').replaceAll('+', '-').replaceAll('/', '_') ? read : null;
}

import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * `sg_<env>_<random>_<checksum>`: a prefix for secret scanners, 32 random base-62 digits (190
 * bits), and 6 digits of CRC-32 over the rest. The checksum rejects typos without a lookup; it is
 * not a security feature.
 */
const ALPHABET =
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_DIGITS = 32;
const CHECKSUM_DIGITS = 6;
const SHAPE = /^sg_[a-z]{1,12}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/;
export const MAX_KEY_LENGTH =
  'sg_'.length + 12 + 1 + RANDOM_DIGITS + 1 + CHECKSUM_DIGITS;

/** `env`: 1 to 12 lower-case letters, such as `live`. */
export function makeSecret(env: string): string {
  if (!/^[a-z]{1,12}$/.test(env))
    throw new RangeError(
      `a key's environment is 1 to 12 small letters, not "${env}"`,
    );
  const body = `sg_${env}_${randomDigits(RANDOM_DIGITS)}`;
  return `${body}_${checksum(body)}`;
}

/** The key need not exist. */
export function isWellFormed(text: string): boolean {
  if (
    text.length > MAX_KEY_LENGTH ||
    !text.startsWith('sg_') ||
    !SHAPE.test(text)
  )
    return false;
  const cut = text.length - CHECKSUM_DIGITS - 1;
  return text.slice(cut + 1) === checksum(text.slice(0, cut));
}

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
 * Accepts hexadecimal digits, base64 or base64url, with or without a prefix such as `sha256:`.
 * Returns base64url; `null` if invalid.
 */
export function readHash(text: string): string | null {
  const digits = text.replace(PREFIX, '');
  if (HEX.test(digits)) return Buffer.from(digits, 'hex').toString('base64url');
  if (!BASE64.test(digits)) return null;
  const read = Buffer.from(digits, 'base64').toString('base64url');
  // The last of 43 characters carries four bits. Further set bits mean a truncated or invented
  // hash.
  return read ===
    digits.replace('=', '').replaceAll('+', '-').replaceAll('/', '_')
    ? read
    : null;
}

export const GIVE_THE_ID =
  'This is the secret of a key, which belongs in no path and no list of processes: give the id, find it with storegate keys identify.';

/** The only stored form of a secret, or of an admin token: SHA-256, 43 characters of base64url. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

export function makeKeyId(): string {
  return `key_${randomDigits(16)}`;
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < CHECKSUM_DIGITS; i++) {
    digits = ALPHABET[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function randomDigits(count: number): string {
  return Array.from({ length: count }, () => ALPHABET[randomInt(62)]).join('');
}

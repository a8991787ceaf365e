import { createHash } from 'node:crypto';

/**
 * For people to compare. Not collision-resistant: do not use it where a collision would help an
 * attacker.
 */
export const shortDigest = (text: string | Uint8Array): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12);

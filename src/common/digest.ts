import { createHash } from 'node:crypto';

/** A short fingerprint that people can compare: 12 digits. Nobody who makes up texts must gain by two of them with the same one. */
export const shortDigest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

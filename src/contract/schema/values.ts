import { Binary } from '../binary.ts';

const MARK = '\u0000';

/**
 * A canonical form of a JSON value, in which a Set finds equal values: arrays and objects become a text with a mark in front, which
 * a string with that mark gets too. Sent numbers have one form only (see `exact`); numbers of a contract may be floats instead of bigints.
 */
export function canonical(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) return `${MARK}${text(value)}`;
  if (typeof value === 'string') return value.startsWith(MARK) ? MARK + JSON.stringify(value) : value;
  const large = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return large ? BigInt(value) : value;
}

function text(value: unknown): string {
  if (value instanceof Binary) return `bytes ${value.digest}`;
  if (Array.isArray(value)) return `[${value.map(text).join()}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${text(member)}`);
    return `{${members.sort().join()}}`;
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(canonical(value));
}

/** Whether the array has no value twice, in linear time; comparing all pairs would take quadratic time. */
export function allDifferent(array: readonly unknown[]): boolean {
  const seen = new Set<unknown>();
  for (const value of array) seen.add(canonical(value));
  return seen.size === array.length;
}

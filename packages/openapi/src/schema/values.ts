import { hash } from 'node:crypto';
import { Binary } from '../binary.ts';

/** In characters; an outer object includes the digest of a longer text. */
const LONG = 200;

const digests = new WeakMap<object, string>();

const MARK = '\u0000';

/**
 * Equal values get equal texts: arrays and objects become a text with a leading mark, which is also added to strings
 * that begin with it. Numbers of a contract may be floats instead of bigints.
 */
export function canonical(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) return `${MARK}${text(value)}`;
  if (typeof value === 'string') return value.startsWith(MARK) ? MARK + JSON.stringify(value) : value;
  const large = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return large ? BigInt(value) : value;
}

function text(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(canonical(value));
  const known = digests.get(value);
  if (known !== undefined) return known;
  const whole = textOf(value);
  if (whole.length <= LONG) return whole;
  const digest = `digest ${hash('sha256', whole)}`;
  digests.set(value, digest);
  return digest;
}

function textOf(value: object): string {
  if (value instanceof Binary) return `bytes ${value.digest}`;
  if (Array.isArray(value)) return `[${value.map(text).join()}]`;
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${text(member)}`);
  return `{${members.sort().join()}}`;
}

/** In linear time; comparing all pairs would be quadratic. */
export function allDifferent(array: readonly unknown[]): boolean {
  const seen = new Set<unknown>();
  for (const value of array) seen.add(canonical(value));
  return seen.size === array.length;
}

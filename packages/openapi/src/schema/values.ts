import { hash } from 'node:crypto';
import { Binary } from '../binary.ts';
import { loop, namesIn, work } from './pauses.ts';

/** In characters; an outer object includes the digest of a longer text. */
const LONG = 200;

const digests = new WeakMap<object, string>();

/** Members or entries for which a check may pause. */
const MANY = 1_000;

/** The work to hash a text. */
const HASH = 200;

/** In values: a set that grows is copied. */
const LARGEST = 32 * 1024;

const [DIGEST, DIFFERENT] = [{}, {}];

const MARK = '\u0000';

/**
 * Equal values get equal texts: arrays and objects become a text with a leading mark, which is also
 * added to strings that begin with it. Numbers of a contract may be floats instead of bigints.
 */
export function canonical(value: unknown): unknown {
  if (typeof value === 'object' && value !== null)
    return `${MARK}${text(value)}`;
  if (typeof value === 'string')
    return value.startsWith(MARK) ? MARK + JSON.stringify(value) : value;
  const large =
    typeof value === 'number' &&
    Number.isInteger(value) &&
    !Number.isSafeInteger(value);
  return large ? BigInt(value) : value;
}

function text(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null)
    return String(canonical(value));
  const known = digests.get(value);
  if (known !== undefined) return known;
  const names = Array.isArray(value) ? null : namesIn(value);
  const count = names?.length ?? (value as unknown[]).length;
  const textAt = (i: number) =>
    names === null
      ? text((value as unknown[])[i])
      : `${JSON.stringify(names[i])}:${text(value[names[i] as never])}`;
  const whole =
    value instanceof Binary
      ? `bytes ${value.digest}`
      : count < MANY && textOf(count, textAt, names === null);
  if (whole !== false && whole.length <= LONG) return whole;
  const sum =
    whole === false
      ? digestOf(value, count, textAt, names === null)
      : hash('sha256', whole);
  const digest = `digest ${sum}`;
  digests.set(value, digest);
  return digest;
}

function textOf(
  count: number,
  textAt: (i: number) => string,
  isList: boolean,
): string {
  const texts = Array.from({ length: count }, (_, i) => textAt(i));
  return isList ? `[${texts.join()}]` : `{${texts.sort().join()}}`;
}

/**
 * The sum of the hashes of all members, or of the parts of a list with their numbers: it does not
 * depend on the order of members, and sorting 100,000 would take 0.1 s.
 */
function digestOf(
  value: object,
  count: number,
  textAt: (i: number) => string,
  isList: boolean,
): string {
  const size = isList ? MANY : 1;
  const { sum } = loop(
    DIGEST,
    value,
    { next: 0, sum: 0n },
    Math.ceil(count / size),
    (i, state) => {
      const length = Math.min(size, count - i * size);
      const texts = Array.from({ length }, (_, j) => textAt(i * size + j));
      const part = isList ? `${i}:${texts.join()}` : texts[0]!;
      state.sum += BigInt(`0x${hash('sha256', part)}`);
      work.left -= HASH + size * 20;
      return true;
    },
  );
  return `${count} ${sum}`;
}

/** In linear time; comparing all pairs would be quadratic. */
export function allDifferent(array: readonly unknown[]): boolean {
  const { different } = loop(
    DIFFERENT,
    array,
    { next: 0, seen: [new Set<unknown>()], different: true },
    array.length,
    (i, state) => {
      const value = canonical(array[i]);
      state.different = !state.seen.some((values) => values.has(value));
      if (state.seen[0]!.size === LARGEST) state.seen.unshift(new Set());
      state.seen[0]!.add(value);
      return state.different;
    },
  );
  return different;
}

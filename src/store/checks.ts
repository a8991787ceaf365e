import { type Fault, invalidRequest } from './errors.ts';

class Unfit extends Error {}

/**
 * @throws Unfit
 */
type Check<T> = (value: unknown) => T;

/** Other fields are ignored. */
export type Shape = Readonly<Record<string, Check<unknown>>>;
type Optional<S extends Shape> = {
  [Name in keyof S]: undefined extends ReturnType<S[Name]> ? Name : never;
}[keyof S];
export type Values<S extends Shape> = {
  readonly [Name in Exclude<keyof S, Optional<S>>]: ReturnType<S[Name]>;
} & {
  readonly [Name in Optional<S>]?: ReturnType<S[Name]>;
};

export const int64Range = {
  least: -(2n ** 63n),
  greatest: 2n ** 63n - 1n,
} as const;

export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value) => (value === undefined ? undefined : check(value));
}

/** As in JSON Schema, `3.0` is an integer. A number that is too large to be exact is not. */
export function integer(least: bigint, greatest: bigint): Check<bigint> {
  return (value) => {
    const exact = Number.isSafeInteger(value) ? BigInt(value as number) : value;
    if (typeof exact !== 'bigint') throw new Unfit('must be an integer');
    if (exact < least || exact > greatest)
      throw new Unfit(`must be from ${least} to ${greatest}`);
    return exact;
  };
}

export const int64 = integer(int64Range.least, int64Range.greatest);

/**
 * Lengths are Unicode code points, as in JSON Schema. Lone surrogates are refused: SQLite would
 * change them.
 */
export function text(shortest: number, longest: number): Check<string> {
  return (value) => {
    if (typeof value !== 'string') throw new Unfit('must be a string');
    if (!value.isWellFormed()) throw new Unfit('must be well-formed Unicode');
    const length = [...value].length;
    if (length < shortest)
      throw new Unfit(`must have at least ${shortest} character`);
    if (length > longest)
      throw new Unfit(`must have at most ${longest} characters`);
    return value;
  };
}

export function oneOf<T>(...allowed: readonly T[]): Check<T> {
  return (value) => {
    if (!allowed.includes(value as T))
      throw new Unfit(`must be one of ${allowed.join(', ')}`);
    return value as T;
  };
}

const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

/** RFC 3339 section 5.6, returned as the client wrote it. */
export const dateTime: Check<string> = (value) => {
  const written = text(1, 64)(value);
  const day = DATE_TIME.exec(written)?.[1];
  // JavaScript takes 30 February for a day in March.
  if (day === undefined || !new Date(day).toJSON()?.startsWith(day))
    throw new Unfit('must be a date-time such as 2026-12-01T09:00:00Z');
  return written;
};

export function written(check: Check<bigint>): Check<bigint> {
  return (value) =>
    check(
      /^(0|-?[1-9]\d{0,18})$/.test(String(value))
        ? BigInt(String(value))
        : value,
    );
}

export const ids: Check<readonly bigint[]> = (value) => {
  const parts = text(1, Number.POSITIVE_INFINITY)(value).split(',');
  if (parts.length > 100) throw new Unfit('must have at most 100 values');
  return parts.map(written(int64));
};

/** The identifier of the first entry of a page, encoded so that clients do not compute with it. */
const cursor: Check<bigint> = (value) => {
  const id = Buffer.from(text(1, 64)(value), 'base64url').toString();
  if (!/^-?\d{1,19}$/.test(id) || toCursor(BigInt(id)) !== value)
    throw new Unfit('is not a cursor of this list');
  return int64(BigInt(id));
};

export const toCursor = (id: bigint): string =>
  Buffer.from(String(id)).toString('base64url');

export const paging = {
  limit: optional(written(integer(1n, 100n))),
  cursor: optional(cursor),
};

/**
 * @throws StoreError `invalid_request` with one fault for each invalid field.
 */
export function readFields<S extends Shape>(
  place: Fault['in'],
  source: unknown,
  shape: S,
): Values<S> {
  if (typeof source !== 'object' || source === null || Array.isArray(source))
    throw invalidRequest(place, [
      { pointer: '', message: 'must be an object' },
    ]);
  const faults: Omit<Fault, 'in'>[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, check] of Object.entries(shape)) {
    const isGiven = Object.hasOwn(source, name);
    try {
      values[name] = check(
        isGiven ? source[name as keyof typeof source] : undefined,
      );
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      faults.push({
        pointer: `/${name}`,
        message: isGiven ? error.message : 'is required',
      });
    }
  }
  if (faults.length > 0) throw invalidRequest(place, faults);
  return values as Values<S>;
}

export function readQuery<S extends Shape>(
  query: URLSearchParams,
  shape: S,
): Values<S> {
  const repeated = () => {
    throw new Unfit('must be given only once');
  };
  const once = Object.entries(shape).map(([name, check]) => [
    name,
    query.getAll(name).length > 1 ? repeated : check,
  ]);
  return readFields(
    'query',
    Object.fromEntries(query),
    Object.fromEntries(once) as S,
  );
}

/** The requirement that a value misses; the message completes the sentence "the value …". */
export class Unfit extends Error {}

/** Returns the value as the store keeps it. @throws Unfit if it does not fit. */
export type Check<T> = (value: unknown) => T;

/** The least and the greatest identifier. */
export const int64Range = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n } as const;

/** An integer of a JSON body. As in JSON Schema, `3.0` is an integer; a number too large to be exact is not. */
export function integer(least: bigint, greatest: bigint): Check<bigint> {
  return (value) => {
    const exact = Number.isSafeInteger(value) ? BigInt(value as number) : value;
    if (typeof exact !== 'bigint') throw new Unfit('must be an integer');
    if (exact < least || exact > greatest) throw new Unfit(`must be from ${least} to ${greatest}`);
    return exact;
  };
}

export const int64 = integer(int64Range.least, int64Range.greatest);

/** Lengths are Unicode code points, as in JSON Schema. Refuses lone surrogates: the store would change them. */
export function text(shortest: number, longest: number): Check<string> {
  return (value) => {
    if (typeof value !== 'string') throw new Unfit('must be a string');
    if (!value.isWellFormed()) throw new Unfit('must be well-formed Unicode');
    const length = [...value].length;
    if (length < shortest) throw new Unfit(`must have at least ${shortest} character`);
    if (length > longest) throw new Unfit(`must have at most ${longest} characters`);
    return value;
  };
}

export function oneOf<T extends string>(...allowed: readonly T[]): Check<T> {
  return (value) => {
    const found = allowed.find((each) => each === value);
    if (found === undefined) throw new Unfit(`must be one of ${allowed.join(', ')}`);
    return found;
  };
}

export const flag: Check<boolean> = (value) => {
  if (typeof value !== 'boolean') throw new Unfit('must be true or false');
  return value;
};

const dateTimeForm = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

/** A date-time of RFC 3339, section 5.6, returned as the client wrote it. */
export const dateTime: Check<string> = (value) => {
  const written = text(1, 64)(value);
  const day = dateTimeForm.exec(written)?.[1];
  if (day === undefined || !isDay(day)) throw new Unfit('must be a date-time such as 2026-12-01T09:00:00Z');
  return written;
};

/** An integer in a path or a query. It must be plain: `7`, and neither `+7` nor `07`. */
export function written(check: Check<bigint>): Check<bigint> {
  return (value) => check(/^(0|-?[1-9]\d{0,18})$/.test(String(value)) ? BigInt(String(value)) : value);
}

/** Values separated by commas, as the contract writes arrays in a query (`style: form, explode: false`). */
export function commaSeparated<T>(most: number, check: Check<T>): Check<readonly T[]> {
  return (value) => {
    const parts = text(1, Number.POSITIVE_INFINITY)(value).split(',');
    if (parts.length > most) throw new Unfit(`must have at most ${most} values`);
    return parts.map(check);
  };
}

/** Whether the day exists in the calendar: JavaScript would take 30 February for a day in March. */
function isDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(day);
}

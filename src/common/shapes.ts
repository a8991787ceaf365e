/**
 * A check of an outside value. Types are derived from checks, so that each shape is written once.
 */
export type Is<T = unknown> = (value: unknown) => value is T;

export type Of<I> = I extends Is<infer T> ? T : never;

/** The last valid date, Unix milliseconds. */
export const LAST_MOMENT = 8.64e15;

export const isText: Is<string> = (value) => typeof value === 'string';
export const isFlag: Is<boolean> = (value) => typeof value === 'boolean';
export const isNumber: Is<number> = (value): value is number =>
  Number.isFinite(value);
export const isCount: Is<number> = (value): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;
export const isLength: Is<number> = (value): value is number =>
  Number.isFinite(value) && (value as number) >= 0;
/** Unix milliseconds. */
export const isMoment: Is<number> = (value): value is number =>
  isCount(value) && value <= LAST_MOMENT;

/** Accepts any text, as a newer version may have added words. */
export const isWord = <W extends string>() => isText as Is<string> as Is<W>;

export const oneOf =
  <const W>(...values: readonly W[]): Is<W> =>
  (value): value is W =>
    values.includes(value as W);

export const orNull =
  <T>(is: Is<T>): Is<T | null> =>
  (value): value is T | null =>
    value === null || is(value);

/** For members that earlier versions do not have. */
export const orMissing =
  <T>(is: Is<T>): Is<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || is(value);

export const listOf =
  <T>(is: Is<T>): Is<readonly T[]> =>
  (value): value is readonly T[] =>
    Array.isArray(value) && value.every(is);

export const isObject: Is<Readonly<Record<string, unknown>>> = (
  value,
): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isCounts: Is<Readonly<Record<string, number>>> = (
  value,
): value is Readonly<Record<string, number>> =>
  isObject(value) && Object.values(value).every(isCount);

type Members = Readonly<Record<string, Is>>;

/** Ignores further members, which newer versions may add. */
export function has<M extends Members>(
  members: M,
): Is<{ readonly [K in keyof M]: Of<M[K]> }> {
  const checks = Object.entries(members);
  return (value): value is { readonly [K in keyof M]: Of<M[K]> } => {
    if (!isObject(value)) return false;
    return checks.every(([name, is]) =>
      is(Object.hasOwn(value, name) ? value[name] : undefined),
    );
  };
}

/** Whether a value, which came from outside, is what is understood here. */
export type Is = (value: unknown) => boolean;

/** The last moment that a date can have, Unix milliseconds. */
const LAST_MOMENT = 8.64e15;

export const isText: Is = (value) => typeof value === 'string';
export const isCount: Is = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
export const isLength: Is = (value) => Number.isFinite(value) && (value as number) >= 0;
export const isMoment: Is = (value) => isCount(value) && (value as number) <= LAST_MOMENT;
export const oneOf =
  (...words: readonly unknown[]): Is =>
  (value) =>
    words.includes(value);
export const orNull =
  (is: Is): Is =>
  (value) =>
    value === null || is(value);
export const listOf =
  (is: Is): Is =>
  (value) =>
    Array.isArray(value) && value.every(is);

/** An object with at least these members: those that a newer version has besides do no harm. */
export function has<T>(members: { readonly [K in keyof T]: Is }): (value: unknown) => value is T {
  const checks = Object.entries<Is>(members);
  return (value): value is T => {
    if (typeof value !== 'object' || value === null) return false;
    return checks.every(([name, is]) => Object.hasOwn(value, name) && is(value[name as keyof typeof value]));
  };
}

export const isFlag: Is = (value) => typeof value === 'boolean';
export const isNumber: Is = (value) => Number.isFinite(value);

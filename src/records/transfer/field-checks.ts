import { isObject, LAST_MOMENT } from '../../common/shapes.ts';

/** Returns an error that completes a sentence starting with the field name; `null`: valid. */
export type Check = (value: unknown) => string | null;

export const moment = integer(0, LAST_MOMENT);

export function integer(from: number, to = Number.MAX_SAFE_INTEGER): Check {
  return (value) =>
    Number.isSafeInteger(value) &&
    (value as number) >= from &&
    (value as number) <= to
      ? null
      : ` must be a whole number from ${from} to ${to}`;
}

export function text(
  most: number,
  form?: RegExp,
  what = 'of another form',
): Check {
  return (value) => {
    if (typeof value !== 'string') return ' must be text';
    if (value.length > most) return ` must have at most ${most} characters`;
    if (!value.isWellFormed()) return ' has half a character';
    return form === undefined || form.test(value) ? null : ` must be ${what}`;
  };
}

export const flag: Check = (value) =>
  typeof value === 'boolean' ? null : ' must be true or false';

export function oneOf(values: readonly string[]): Check {
  return (value) =>
    values.includes(value as string)
      ? null
      : ` must be one of ${values.join(', ')}`;
}

export function orNull(check: Check): Check {
  return (value) => (value === null ? null : check(value));
}

export function list(most: number, check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return ' must be a list';
    if (value.length > most) return ` must have at most ${most} entries`;
    for (const [i, one] of value.entries()) {
      const wrong = check(one);
      if (wrong !== null) return `[${i}]${wrong}`;
    }
    return null;
  };
}

export function fields(
  checks: Readonly<Record<string, Check>>,
  optional: readonly string[] = [],
): Check {
  const names = Object.keys(checks);
  return (value) => {
    if (!isObject(value)) return ' must be an object';
    for (const name of names) {
      if (!Object.hasOwn(value, name)) {
        if (optional.includes(name)) continue;
        return `.${name} is missing`;
      }
      const wrong = checks[name]!(value[name]);
      if (wrong !== null) return `.${name}${wrong}`;
    }
    const unknown = Object.keys(value).find(
      (name) => !Object.hasOwn(checks, name),
    );
    return unknown === undefined
      ? null
      : ` has a field that is unknown here: ${JSON.stringify(unknown.slice(0, 40))}`;
  };
}

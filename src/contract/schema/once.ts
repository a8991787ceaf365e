import type { Translated } from './definitions.ts';
import { purse } from './purse.ts';
import type { Validator } from './unit.ts';

/**
 * The validator of a schema that looks for what is not evaluated remembers which objects it has found good in the same check: to find
 * out what alternatives evaluate it validates them again, which would double the work at each level of a recursive schema.
 */
export function once(schema: Translated, validate: Validator): Validator {
  if (!looksBack(schema)) return validate;
  const good = new WeakMap<object, number>();
  const remembering: Validator = (value, context) => {
    const isObject = typeof value === 'object' && value !== null;
    if (isObject && good.get(value) === purse.check) return true;
    const fits = validate(value, context);
    if (fits && isObject) good.set(value, purse.check);
    remembering.errors = validate.errors ?? null;
    return fits;
  };
  return remembering;
}

function looksBack(schema: Translated): boolean {
  const parts = new Set<object>([schema]);
  for (const part of parts) {
    if ('leftMembers' in part || 'leftEntries' in part) return true;
    for (const inner of Object.values(part)) if (typeof inner === 'object' && inner !== null) parts.add(inner);
  }
  return false;
}

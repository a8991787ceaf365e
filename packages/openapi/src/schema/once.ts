import type { ErrorObject } from 'ajv';
import type { Translated } from './definitions.ts';
import { forks } from './forks.ts';
import { type Known, memory } from './memory.ts';
import type { Validator } from './unit.ts';

/**
 * The results of a check that are not remembered: nearly all bodies need fewer, and remembering costs as much as a
 * small schema.
 */
const FREE = 8;

/** A longer list may contain duplicates. */
const MANY = 20;

/**
 * The validator of a schema that leads to others in several ways remembers its result for each object: the work of a
 * recursive schema would otherwise multiply with each level of the value. All multiplied work passes through such a
 * schema, so the work only grows with the value, and no value is too large.
 */
export function once(schema: Translated, validate: Validator): Validator {
  if (!forks(schema)) return validate;
  const known: Known = new Map();
  const remembering: Validator = (value, place) => {
    if (typeof value !== 'object' || value === null || memory.judgements++ < FREE) {
      const fits = validate(value, place);
      remembering.errors = validate.errors ?? null;
      return fits;
    }
    let errors = known.get(value);
    if (errors === undefined) {
      errors = validate(value, place) ? null : unique(validate.errors!);
      if (known.size === 0) memory.known.push(known);
      known.set(value, errors);
    }
    remembering.errors = errors;
    return errors === null;
  };
  return remembering;
}

/**
 * Alternatives that lead to the same object have the same errors of it, and their number would double with each level.
 */
const unique = (errors: readonly ErrorObject[]): readonly ErrorObject[] =>
  errors.length > MANY ? [...new Set(errors)] : errors;

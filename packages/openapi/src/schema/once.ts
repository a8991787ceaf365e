import type { ErrorObject } from 'ajv';
import type { Translated } from './definitions.ts';
import { forks } from './forks.ts';
import { type Known, memory } from './memory.ts';
import type { Validator } from './unit.ts';

/** Nearly all bodies need fewer checks, and remembering costs as much as a small schema. */
const FREE = 8;

/** A longer list may contain duplicates. */
const MANY = 20;

/**
 * Remembers the result for each object: the work of a recursive schema that leads to others in several ways would
 * otherwise multiply with each level of the value.
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

/** Errors of an object that several alternatives reach would double with each level. */
const unique = (errors: readonly ErrorObject[]): readonly ErrorObject[] =>
  errors.length > MANY ? [...new Set(errors)] : errors;

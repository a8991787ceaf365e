import type { ErrorObject } from 'ajv';
import { MAX_FAULTS } from '../faults.ts';
import { LargeMap } from '../large-map.ts';
import { allPartsIn } from './cut.ts';
import type { Translated } from './definitions.ts';
import { type Validator, work } from './pauses.ts';

/** Thrown by a search for all faults that cannot list them. */
export const INCOMPLETE = Symbol('the faults are incomplete');

/** Runs a check whose faults may not count, such as the check of an alternative. */
export function apart<T>(check: () => T): T {
  const { pass } = work;
  pass.apart++;
  const result = check();
  pass.apart--;
  return result;
}

/**
 * Above the limit, only one more error is added, which marks the schema as not matching: lists that
 * are copied at each level must not grow with the value.
 */
export function added(
  errors: ErrorObject[] | null,
  more: readonly ErrorObject[],
): ErrorObject[] {
  const all = errors ?? [];
  const space = Math.max(1, MAX_FAULTS + 1 - all.length);
  for (let i = 0; i < more.length && i < space; i++) all.push(more[i]!);
  if (more.length > space) work.pass.dropped = true;
  return all;
}

/** All errors, which are few enough to list. */
export function joined(
  errors: ErrorObject[] | null,
  more: readonly ErrorObject[],
): ErrorObject[] | null {
  if (more.length === 0) return errors;
  return errors === null ? [...more] : [...errors, ...more];
}

/** Nearly all bodies need fewer checks, and remembering costs as much as a small schema. */
export const FREE = 8;

/** A longer list may contain duplicates. */
const LONG = 20;

/**
 * Remembers the result for each object: the work of a recursive schema that leads to others in
 * several ways would otherwise multiply with each level of the value. The first `free` objects are
 * not remembered.
 */
export function once(
  schema: Translated,
  validate: Validator,
  free: number,
): Validator {
  if (!forks(schema)) return validate;
  const remembering: Validator = (value, place) => {
    const { pass } = work;
    if (
      typeof value !== 'object' ||
      value === null ||
      pass.judgements++ < free
    ) {
      const fits = validate(value, place);
      remembering.errors = validate.errors ?? null;
      return fits;
    }
    pass.known ??= new Map();
    let cached = pass.known.get(remembering);
    if (cached === undefined) {
      cached = new LargeMap();
      pass.known.set(remembering, cached);
    }
    let errors = cached.get(value);
    if (errors === undefined) {
      errors = validate(value, place) ? null : unique(validate.errors!);
      cached.add(value, errors);
    }
    remembering.errors = errors;
    return errors === null;
  };
  return remembering;
}

/** Errors of an object that several alternatives reach would double with each level. */
const unique = (errors: readonly ErrorObject[]) =>
  errors.length > LONG ? [...new Set(errors)] : errors;

/** Applied to different values, each once. */
const MEMBERS = new Set([
  'properties',
  'additionalProperties',
  'items',
  'prefixItems',
]);

/**
 * Whether definitions may check the same value more than once because of a schema. Which
 * definitions does not matter: few schemas fork.
 */
const forks = (schema: Translated) =>
  inside(schema).some(
    (part) =>
      'unevaluatedProperties' in part ||
      'unevaluatedItems' in part ||
      waysOf(part) > 1,
  );

function waysOf(schema: Translated): number {
  const parts = [...allPartsIn(schema)].filter(([, part]) =>
    inside(part).some(isReference),
  );
  const ways = new Set(
    parts.map(([keyword, part]) => (MEMBERS.has(keyword) ? MEMBERS : part)),
  );
  return ways.size + (isReference(schema) ? 1 : 0);
}

const isReference = ({ refers, cases }: Translated) =>
  (refers ?? cases) !== undefined;

function* inside(schema: Translated): Generator<Translated> {
  const parts = new Set([schema]);
  for (const part of parts) {
    yield part;
    for (const [, inner] of allPartsIn(part)) parts.add(inner);
  }
}

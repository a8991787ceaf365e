import type { ErrorObject, ValidateFunction } from 'ajv';
import { escapeToken } from '../names.ts';

/** The place of a value, as ajv tells it. */
type Place = NonNullable<Parameters<ValidateFunction>[1]>;

/** Leaves the errors of its last call behind. */
export interface Validator {
  (value: unknown, context?: Place): boolean;
  /** Not to be changed: they may be remembered. */
  errors?: null | readonly ErrorObject[];
}

/** A schema and its validator, which is compiled at its first call or in `Compiler.steps`, whichever comes first. */
export interface Unit {
  /** Not to be kept: the compiled validator takes the place of the first one. */
  readonly validate: Validator;
}

/** The place of an object or list that is judged once more: what it is a part of does not matter to it. */
export const at = (path: string): Place => ({ instancePath: path }) as Place;

/** The place of a member of an object or entry of a list. `path`: the pointer of that. */
export const placeOf = (parentData: object, key: string | number, path: string): Place => ({
  instancePath: `${path}/${escapeToken(String(key))}`,
  parentData: parentData as Place['parentData'],
  parentDataProperty: key,
  rootData: parentData as Place['rootData'],
  dynamicAnchors: {},
});

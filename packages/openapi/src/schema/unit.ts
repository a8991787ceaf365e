import type { ErrorObject, ValidateFunction } from 'ajv';
import { escapeToken } from '../names.ts';

type Place = NonNullable<Parameters<ValidateFunction>[1]>;

/** Stores the errors of its last call. */
export interface Validator {
  (value: unknown, context?: Place): boolean;
  /** Do not change them: they may be remembered. */
  errors?: null | readonly ErrorObject[];
}

/** Compiled on the first call or in `Compiler.steps`. */
export interface Unit {
  /** Do not keep it: the compiled validator replaces the first one. */
  readonly validate: Validator;
}

/** For a value that is checked again: its parent does not matter. */
export const at = (path: string): Place => ({ instancePath: path }) as Place;

export const placeOf = (parentData: object, key: string | number, path: string): Place => ({
  instancePath: `${path}/${escapeToken(String(key))}`,
  parentData: parentData as Place['parentData'],
  parentDataProperty: key,
  rootData: parentData as Place['rootData'],
  dynamicAnchors: {},
});

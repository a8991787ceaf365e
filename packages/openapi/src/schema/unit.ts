import type { ErrorObject, ValidateFunction } from 'ajv';
import { escapeToken } from '../names.ts';
import type { Translated } from './definitions.ts';

export type Place = NonNullable<Parameters<ValidateFunction>[1]>;

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
  /** The work for a value, without loops and other units. */
  readonly weight: number;
}

/** What keywords need of the compiler that compiles them. */
export interface Units {
  readonly find: (name: string) => Translated;
  unit(schema: Translated): Unit;
}

export const placeOf = (parentData: object, key: string | number, path: string): Place => ({
  instancePath: `${path}/${escapeToken(String(key))}`,
  parentData: parentData as Place['parentData'],
  parentDataProperty: key,
  rootData: parentData as Place['rootData'],
  dynamicAnchors: {},
});

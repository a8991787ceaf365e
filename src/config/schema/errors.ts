import type { ErrorObject } from 'ajv';
import { suggest } from '../../common/suggest.ts';
import { step } from '../problems/pointers.ts';
import { quote } from '../problems/quote.ts';
import {
  expectation,
  flatten,
  type Schema,
  type SchemaName,
  schemaOf,
} from './schema.ts';
import { isValid, validator } from './validators.ts';

export interface SchemaError {
  /** JSON pointer. */
  readonly pointer: string;
  readonly at: 'key' | 'value';
  readonly message: string;
}

export const valueError = (pointer: string, message: string): SchemaError => ({
  pointer,
  at: 'value',
  message,
});

/**
 * At most one flaw per place.
 *
 * @param definition a definition of the schema, if the value is not a whole document
 */
export function schemaErrors(
  value: unknown,
  name: SchemaName,
  definition?: string,
): readonly SchemaError[] {
  if (definition === undefined && isValid(value, name)) return [];
  const validate = validator(
    name,
    definition === undefined
      ? undefined
      : schemaOf(name).definitions?.[definition],
  );
  if (validate(value)) return [];
  const flaws = new Map<string, SchemaError>();
  const errors = (validate.errors ?? []).filter((error) => !isEcho(error));
  // Useless for a value of another type.
  const isRange = (error: ErrorObject) => error.keyword === 'x-between';
  for (const error of [
    ...errors.filter((error) => !isRange(error)),
    ...errors.filter(isRange),
  ]) {
    const flaw = errorOf(error, schemaOf(name));
    if (!flaws.has(flaw.pointer)) flaws.set(flaw.pointer, flaw);
  }
  return [...flaws.values()];
}

/** ajv also reports the alternatives that it tried, and the keyword around the actual mistake. */
function isEcho(error: ErrorObject): boolean {
  return (
    error.keyword === 'propertyNames' ||
    error.keyword === 'if' ||
    error.schemaPath.includes('/oneOf/')
  );
}

function errorOf(error: ErrorObject, root: Schema): SchemaError {
  const { instancePath, keyword, params, propertyName } = error;
  const schema = error.parentSchema as Schema;
  if (propertyName !== undefined) {
    const message = `${expectation(schema)}, is ${quote(propertyName)}`;
    return { pointer: step(instancePath, propertyName), at: 'key', message };
  }
  if (keyword === 'additionalProperties') {
    const key: string = params.additionalProperty;
    return {
      pointer: step(instancePath, key),
      at: 'key',
      message: unknownKey(key, schema),
    };
  }
  if (keyword === 'required') {
    const key: string = params.missingProperty;
    const right = expectation(flatten(schema.properties?.[key] ?? {}, root));
    return {
      pointer: step(instancePath, key),
      at: 'value',
      message: `is missing: ${right}`,
    };
  }
  if (keyword === 'uniqueItems') {
    return {
      pointer: step(instancePath, params.i),
      at: 'value',
      message: `is the same as entry [${params.j}]`,
    };
  }
  return {
    pointer: instancePath,
    at: 'value',
    message: wrongValue(error, schema),
  };
}

function wrongValue(
  { keyword, params, data }: ErrorObject,
  schema: Schema,
): string {
  switch (keyword) {
    case 'oneOf':
      return expectation(schema);
    case 'minItems':
    case 'minProperties':
      return `must have at least ${params.limit} ${params.limit === 1 ? 'entry' : 'entries'}`;
    case 'maxItems':
      return `must have at most ${params.limit} entries, has ${(data as readonly unknown[]).length}`;
    case 'x-between':
      return `must be from ${params.min} to ${params.max}, is ${quote(data)}`;
    default:
      return `${expectation(schema)}, ${quoted(data, schema)}`;
  }
}

function quoted(data: unknown, schema: Schema): string {
  if (schema['x-secret'] !== undefined)
    return 'and is not (the value is not shown)';
  // Text in place of a section may be a secret.
  return typeof data === 'string' && isSection(schema)
    ? 'is a text'
    : `is ${quote(data)}`;
}

function isSection({ type, errorMessage }: Schema): boolean {
  return (
    errorMessage === undefined &&
    [type ?? []].flat().some((name) => name === 'object' || name === 'array')
  );
}

function unknownKey(key: string, { properties = {} }: Schema): string {
  const names = Object.keys(properties);
  const near = suggest(key, names);
  return near === null
    ? `is unknown; known here: ${names.join(', ')}`
    : `is unknown; did you mean ${near}?`;
}

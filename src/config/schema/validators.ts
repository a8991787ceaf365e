import { isDeepStrictEqual } from 'node:util';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { isObject } from '../../common/shapes.ts';
import { parseDuration, parseSize } from '../units.ts';
import { formats } from './formats.ts';
import { partsOf, type Schema, type SchemaName, schemaOf } from './schema.ts';

let shared: Ajv | undefined;
const compiled = new Map<Schema, ValidateFunction>();

/** Compiled on first use. */
export function validator(
  name: SchemaName,
  part: Schema = schemaOf(name),
): ValidateFunction {
  const cached = compiled.get(part);
  if (cached !== undefined) return cached;
  shared ??= createAjv();
  // With a reference, ajv would compile the whole schema first.
  const validate = shared.compile({
    ...part,
    definitions: schemaOf(name).definitions,
  });
  compiled.set(part, validate);
  return validate;
}

function createAjv(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strictTypes: true,
    allowUnionTypes: true,
    // A test validates the schemas.
    validateSchema: false,
    meta: false,
    // A check that runs once or twice gains nothing by it.
    code: { optimize: false },
  });
  ajv.addVocabulary([
    'errorMessage',
    'x-secret',
    'x-restart',
    'x-unit',
    'x-env',
  ]);
  ajv.addKeyword({ keyword: 'x-between', errors: true, compile: between });
  for (const [format, check] of Object.entries(formats))
    ajv.addFormat(format, check);
  return ajv;
}

/** The pattern beside it refuses other values. */
function between([min, max]: readonly [string, string]) {
  const low = measure(min)!;
  const high = measure(max)!;
  const validate: {
    (data: unknown): boolean;
    errors?: Partial<ErrorObject>[];
  } = (data) => {
    const value = measure(data);
    const good = value === null || (value >= low && value <= high);
    if (!good)
      validate.errors = [{ keyword: 'x-between', params: { min, max } }];
    return good;
  };
  return validate;
}

function measure(value: unknown): number | null {
  if (typeof value === 'number') return parseSize(value);
  return typeof value === 'string'
    ? (parseDuration(value) ?? parseSize(value))
    : null;
}

const ANNOTATIONS = [
  'title',
  'description',
  'default',
  'errorMessage',
  'x-restart',
  'x-unit',
  'x-env',
  '$schema',
  '$comment',
  'definitions',
];
/** `pattern` applies to text alone. */
const SECTION = new Set([
  ...ANNOTATIONS,
  'type',
  'pattern',
  'properties',
  'additionalProperties',
  'required',
]);
const REFERENCE = new Set([...ANNOTATIONS, 'allOf', '$ref']);

/**
 * Compiling the whole schema takes longer than all other work on a configuration, so only what
 * differs from the defaults is checked, by its own part of the schema. A test checks every default.
 */
export function isValid(document: unknown, name: SchemaName): boolean {
  const root = schemaOf(name);

  function visit(value: unknown, schema: Schema): boolean {
    if (isDefault(value, schema)) return true;
    const only = soleTarget(schema, root);
    if (only !== null) return visit(value, only);
    const { properties } = schema;
    if (properties === undefined || !isSection(schema) || !isObject(value))
      return validator(name, schema)(value);
    return (
      (schema.required ?? []).every((key) => Object.hasOwn(value, key)) &&
      Object.entries(value).every(
        ([key, member]) =>
          Object.hasOwn(properties, key) && visit(member, properties[key]!),
      )
    );
  }

  return visit(document, root);
}

/** Objects that were read have no prototype. */
function isDefault(value: unknown, schema: Schema): boolean {
  const plain = isObject(value) ? { ...value } : value;
  return (
    schema.default !== undefined && isDeepStrictEqual(plain, schema.default)
  );
}

/** `null` if several schemas decide. */
function soleTarget(schema: Schema, root: Schema): Schema | null {
  const [only, ...more] = partsOf(schema, root);
  return only !== undefined && more.length === 0 && hasOnly(schema, REFERENCE)
    ? only
    : null;
}

function isSection(schema: Schema): boolean {
  return (
    [schema.type].flat().includes('object') &&
    schema.additionalProperties === false &&
    hasOnly(schema, SECTION)
  );
}

function hasOnly(schema: Schema, keywords: ReadonlySet<string>): boolean {
  return Object.keys(schema).every((keyword) => keywords.has(keyword));
}

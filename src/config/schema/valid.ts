import { isDeepStrictEqual } from 'node:util';
import { isObject, type Schema, type SchemaName, schemaOf } from './schema.ts';
import { validator } from './validators.ts';

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
const SECTION = new Set([...ANNOTATIONS, 'type', 'pattern', 'properties', 'additionalProperties', 'required']);
const REFERENCE = new Set([...ANNOTATIONS, 'allOf', '$ref']);

/**
 * Compiling the whole schema takes longer than all other work on a configuration, so only what differs from the
 * defaults is checked, by its own part of the schema. A test checks every default.
 */
export function isValid(document: unknown, name: SchemaName): boolean {
  const root = schemaOf(name);

  function visit(value: unknown, schema: Schema): boolean {
    if (isDefault(value, schema)) return true;
    const only = soleTarget(schema, root);
    if (only !== null) return visit(value, only);
    const { properties } = schema;
    if (properties === undefined || !isSection(schema) || !isObject(value)) return validator(name, schema)(value);
    return (
      (schema.required ?? []).every((key) => Object.hasOwn(value, key)) &&
      Object.entries(value).every(([key, member]) => Object.hasOwn(properties, key) && visit(member, properties[key]!))
    );
  }

  return visit(document, root);
}

/** Objects that were read have no prototype. */
function isDefault(value: unknown, schema: Schema): boolean {
  const plain = isObject(value) ? { ...value } : value;
  return schema.default !== undefined && isDeepStrictEqual(plain, schema.default);
}

/** `null` if several schemas decide. */
function soleTarget(schema: Schema, root: Schema): Schema | null {
  const { allOf = [], $ref } = schema;
  const parts = $ref === undefined ? allOf : [...allOf, root.definitions?.[$ref.replace('#/definitions/', '')]];
  const [only, ...more] = parts;
  return only !== undefined && more.length === 0 && hasOnly(schema, REFERENCE) ? only : null;
}

function isSection(schema: Schema): boolean {
  return [schema.type].flat().includes('object') && schema.additionalProperties === false && hasOnly(schema, SECTION);
}

function hasOnly(schema: Schema, keywords: ReadonlySet<string>): boolean {
  return Object.keys(schema).every((keyword) => keywords.has(keyword));
}

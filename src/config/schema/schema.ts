import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The parts of draft-07 that code in src/config reads; ajv reads all of it. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  /** A sentence without its subject: `must be …`. Editors show it too. */
  readonly errorMessage?: string;
  /** Error messages never show it. */
  readonly 'x-secret'?: 'whole' | 'credentials';
  /** Also for the settings in this section. */
  readonly 'x-restart'?: boolean | undefined;
  /** See `conversions.ts`. */
  readonly 'x-unit'?: string;
  /** A later variable overrides an earlier one. */
  readonly 'x-env'?: string | readonly string[];
  /** For durations or sizes, as written. */
  readonly 'x-between'?: readonly [string, string];
}

export type SchemaName = 'gateway' | 'plans';

const folder = resolve(import.meta.dirname, '../../../config');
const read = new Map<SchemaName, Schema>();

/** The file that editors use. */
export function schemaOf(name: SchemaName): Schema {
  const cached = read.get(name);
  if (cached !== undefined) return cached;
  const schema: Schema = JSON.parse(
    readFileSync(resolve(folder, `${name}.schema.json`), 'utf8'),
  );
  read.set(name, schema);
  return schema;
}

/** By schema: each API of the settings asks for all of them. */
const flat = new WeakMap<Schema, Schema>();

/** Its own keywords take precedence over `allOf` and `$ref`. */
export function flatten(schema: Schema, root: Schema): Schema {
  const cached = flat.get(schema);
  if (cached !== undefined) return cached;
  const parts = partsOf(schema, root).map((part) => flatten(part, root));
  const own: Schema = Object.assign({}, ...parts, schema);
  flat.set(schema, own);
  return own;
}

export function partsOf(
  { $ref, allOf = [] }: Schema,
  root: Schema,
): readonly Schema[] {
  const target =
    $ref === undefined
      ? undefined
      : root.definitions?.[$ref.replace('#/definitions/', '')];
  return target === undefined ? allOf : [target, ...allOf];
}

/** A sentence without its subject. */
export function expectation(schema: Schema): string {
  if (schema.errorMessage !== undefined) return schema.errorMessage;
  if (schema.enum !== undefined)
    return `must be ${oneOf(schema.enum.map(String))}`;
  switch (schema.type) {
    case 'integer':
      return `must be a whole number from ${schema.minimum} to ${schema.maximum}`;
    case 'number':
      return `must be a number from ${schema.minimum} to ${schema.maximum}`;
    case 'boolean':
      return 'must be true or false';
    case 'array':
      return 'must be a list';
    default:
      return 'must be a map';
  }
}

/** `a`, `a or b`, `a, b or c`. */
function oneOf(values: readonly string[]): string {
  return [values.slice(0, -1).join(', '), ...values.slice(-1)]
    .filter((part) => part !== '')
    .join(' or ');
}

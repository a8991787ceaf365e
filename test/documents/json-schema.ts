import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';

export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const escapeToken = (name: string): string =>
  name.replaceAll('~', '~0').replaceAll('/', '~1');

const DOCUMENT = 'document:/';
const MAPS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
const VALUES = new Set(['enum', 'const', 'default', 'example', 'examples']);

const OPTIONS: Options = {
  strict: false,
  logger: false,
  validateSchema: false,
  code: { regExp: Object.assign(regExp, { code: '' }) },
};

/** The schemas of a document, for requests, as plain ajv checks them. */
export class PlainSchemas {
  readonly #document: Json;
  readonly #modern: boolean;
  readonly #ajv: Ajv;
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(document: Json) {
    this.#document = document;
    this.#modern = !String(document.openapi).startsWith('3.0.');
    this.#ajv = this.#modern ? (new Ajv2020(OPTIONS) as unknown as Ajv) : new Ajv(OPTIONS);
    (ajvFormats as unknown as (ajv: Ajv) => void)(this.#ajv);
    this.#ajv.addSchema(this.#part(document, []) as object, DOCUMENT);
  }

  /** The target of a reference, with its pointer. */
  follow(value: unknown, pointer: string): { node: Json; pointer: string } {
    if (!isObject(value)) return { node: {}, pointer };
    if (typeof value.$ref !== 'string') return { node: value, pointer };
    const target = decodeURIComponent(value.$ref.slice(1));
    return this.follow(this.#at(target), target);
  }

  /** `format`: only a format is violated. */
  judge(pointer: string, value: unknown): 'fits' | 'format' | 'violates' {
    let validate = this.#compiled.get(pointer);
    if (!validate) {
      validate = this.#ajv.compile({ $ref: `${DOCUMENT}#${encodeURI(pointer)}` });
      this.#compiled.set(pointer, validate);
    }
    if (validate(value)) return 'fits';
    const byFormat = validate.errors?.some(({ keyword }) => keyword === 'format');
    return byFormat ? 'format' : 'violates';
  }

  #at(pointer: string): unknown {
    let value: unknown = this.#document;
    for (const token of pointer.split('/').slice(1))
      value = (Object(value) as Json)[token.replaceAll('~1', '/').replaceAll('~0', '~')];
    return value;
  }

  /** Of the document outside schemas. */
  #part(value: unknown, path: readonly string[]): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#part(one, path));
    if (!isObject(value)) return value;
    const at = path.join('/');
    if (at === 'components/schemas') return this.#map(value);
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !VALUES.has(name))
        .map(([name, inner]) => [
          name,
          name === 'schema' ? this.#schema(inner) : this.#part(inner, [...path, name]),
        ]),
    );
  }

  #map = (value: Json): Json =>
    Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.#schema(inner)]));

  #schema(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#schema(one));
    if (typeof value === 'bigint') return Number(value);
    if (!isObject(value)) return value;
    if (!this.#modern && typeof value.$ref === 'string') return { $ref: value.$ref };
    const schema: Json = {};
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'discriminator' || name === 'xml') continue;
      if (MAPS.has(name) && isObject(inner)) schema[name] = this.#map(inner);
      else schema[name] = VALUES.has(name) ? plain(inner) : this.#schema(inner);
    }
    if (!this.#modern) modernize(schema);
    this.#needOnlyWritable(schema, value);
    return schema;
  }

  /** A request never needs what is read-only. */
  #needOnlyWritable(schema: Json, { properties, required }: Json): void {
    if (!isObject(properties) || !Array.isArray(required)) return;
    schema.required = required.filter((name) => !this.#isReadOnly(properties[name], 0));
  }

  #isReadOnly(value: unknown, depth: number): boolean {
    if (!isObject(value) || depth > 8) return false;
    const { node } = this.follow(value, '');
    const parts = Array.isArray(node.allOf) ? node.allOf : [];
    return (
      value.readOnly === true ||
      node.readOnly === true ||
      parts.some((part) => this.#isReadOnly(part, depth + 1))
    );
  }
}

const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? Number(one) : one)));

/** OpenAPI 3.0 has the keywords of an earlier JSON Schema, and `nullable`. */
function modernize(schema: Json): void {
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const isExclusive = schema[exclusive] === true && typeof schema[limit] === 'number';
    delete schema[exclusive];
    if (!isExclusive) continue;
    schema[exclusive] = schema[limit];
    delete schema[limit];
  }
  if (schema.nullable === true && typeof schema.type === 'string')
    schema.type = [schema.type, 'null'];
  delete schema.nullable;
}

/** ECMA-262 with the `u` flag, otherwise without it; what is neither has no effect. */
function regExp(pattern: string): RegExp {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return /(?:)/;
}

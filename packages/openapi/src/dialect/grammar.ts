import { isObject, type Json } from '../document/source.ts';

/** In `components` of each version. */
type Component =
  | 'schema'
  | 'response'
  | 'parameter'
  | 'example'
  | 'requestBody'
  | 'header'
  | 'link'
  | 'callback';

type Inner =
  | 'info'
  | 'components'
  | 'paths'
  | 'pathItem'
  | 'operation'
  | 'mediaType'
  | 'encoding'
  | 'responses';

export type Kind = 'openapi' | Inner | Component | 'securityScheme';

/** A `foreign` field affects requests but is not supported, which is a mistake. */
export type Field =
  | readonly [form: 'one' | 'list' | 'map' | 'oneOrBoolean', of: Kind]
  | 'foreign'
  | 'string'
  | 'boolean'
  | 'any';

/** `*` stands for every other name except extensions (`x-…`). */
export type Fields = Readonly<Record<string, Field>>;

export type Grammar = Readonly<Record<Kind, Fields>>;

const each = (names: readonly string[], field: Field) =>
  Object.fromEntries(names.map((name) => [name, field]));

const PARAMETER: Fields = {
  ...each(['description', 'style'], 'string'),
  ...each(
    ['required', 'deprecated', 'allowEmptyValue', 'explode', 'allowReserved'],
    'boolean',
  ),
  schema: ['one', 'schema'],
  example: 'any',
  examples: ['map', 'example'],
  content: ['map', 'mediaType'],
};

/** OpenAPI 3.0.3, section "Schema". */
export const GRAMMAR_30: Grammar = {
  openapi: {
    openapi: 'string',
    info: ['one', 'info'],
    paths: ['one', 'paths'],
    components: ['one', 'components'],
    ...each(['servers', 'security', 'tags', 'externalDocs'], 'any'),
  },
  info: {
    ...each(['title', 'version', 'description', 'termsOfService'], 'string'),
    ...each(['contact', 'license'], 'any'),
  },
  components: {
    schemas: ['map', 'schema'],
    responses: ['map', 'response'],
    parameters: ['map', 'parameter'],
    examples: ['map', 'example'],
    requestBodies: ['map', 'requestBody'],
    headers: ['map', 'header'],
    securitySchemes: ['map', 'securityScheme'],
    links: ['map', 'link'],
    callbacks: ['map', 'callback'],
  },
  paths: { '*': ['one', 'pathItem'] },
  pathItem: {
    ...each(
      ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'],
      ['one', 'operation'],
    ),
    ...each(['summary', 'description'], 'string'),
    servers: 'any',
    parameters: ['list', 'parameter'],
  },
  operation: {
    ...each(['summary', 'description', 'operationId'], 'string'),
    ...each(['tags', 'externalDocs', 'security', 'servers'], 'any'),
    parameters: ['list', 'parameter'],
    requestBody: ['one', 'requestBody'],
    responses: ['one', 'responses'],
    callbacks: ['map', 'callback'],
    deprecated: 'boolean',
  },
  parameter: { name: 'string', in: 'string', ...PARAMETER },
  requestBody: {
    description: 'string',
    content: ['map', 'mediaType'],
    required: 'boolean',
  },
  mediaType: {
    schema: ['one', 'schema'],
    example: 'any',
    examples: ['map', 'example'],
    encoding: ['map', 'encoding'],
  },
  encoding: {
    ...each(['contentType', 'style'], 'string'),
    headers: ['map', 'header'],
    ...each(['explode', 'allowReserved'], 'boolean'),
  },
  responses: { '*': ['one', 'response'] },
  response: {
    description: 'string',
    headers: ['map', 'header'],
    content: ['map', 'mediaType'],
    links: ['map', 'link'],
  },
  callback: { '*': ['one', 'pathItem'] },
  example: {
    ...each(['summary', 'description', 'externalValue'], 'string'),
    value: 'any',
  },
  link: {
    ...each(['operationRef', 'operationId', 'description'], 'string'),
    ...each(['parameters', 'requestBody', 'server'], 'any'),
  },
  header: PARAMETER,
  schema: {
    ...each(
      [
        'title',
        'description',
        'default',
        'example',
        'externalDocs',
        'discriminator',
        'xml',
        'type',
        'nullable',
        'enum',
        'required',
        'multipleOf',
        'maximum',
        'exclusiveMaximum',
        'minimum',
        'exclusiveMinimum',
        'maxLength',
        'minLength',
        'pattern',
        'maxItems',
        'minItems',
        'uniqueItems',
        'maxProperties',
        'minProperties',
      ],
      'any',
    ),
    format: 'string',
    ...each(['deprecated', 'readOnly', 'writeOnly'], 'boolean'),
    ...each(['allOf', 'oneOf', 'anyOf'], ['list', 'schema']),
    ...each(['not', 'items'], ['one', 'schema']),
    properties: ['map', 'schema'],
    additionalProperties: ['oneOrBoolean', 'schema'],
  },
  securityScheme: { '*': 'any' },
};

const SCHEMA: Field = ['oneOrBoolean', 'schema'];

export const GRAMMAR_31: Grammar = {
  ...GRAMMAR_30,
  openapi: {
    ...GRAMMAR_30.openapi,
    jsonSchemaDialect: 'string',
    webhooks: ['map', 'pathItem'],
  },
  info: { ...GRAMMAR_30.info, summary: 'string' },
  components: { ...GRAMMAR_30.components, pathItems: ['map', 'pathItem'] },
  parameter: { ...GRAMMAR_30.parameter, schema: SCHEMA },
  header: { ...GRAMMAR_30.header, schema: SCHEMA },
  mediaType: { ...GRAMMAR_30.mediaType, schema: SCHEMA },
  schema: {
    ...GRAMMAR_30.schema,
    ...each(
      [
        '$id',
        '$schema',
        '$anchor',
        '$dynamicAnchor',
        '$ref',
        '$dynamicRef',
        'contentEncoding',
        'contentMediaType',
      ],
      'string',
    ),
    ...each(
      [
        '$comment',
        '$vocabulary',
        'examples',
        'const',
        'dependentRequired',
        'maxContains',
        'minContains',
      ],
      'any',
    ),
    ...each(
      [
        'not',
        'if',
        'then',
        'else',
        'items',
        'contains',
        'propertyNames',
        'contentSchema',
        'unevaluatedItems',
        'unevaluatedProperties',
      ],
      SCHEMA,
    ),
    prefixItems: ['list', 'schema'],
    ...each(
      ['patternProperties', 'dependentSchemas', '$defs', 'definitions'],
      ['map', 'schema'],
    ),
  },
};

/** The additions of OpenAPI 3.2 to requests and responses are not checked. */
export const GRAMMAR_32: Grammar = {
  ...GRAMMAR_31,
  openapi: { ...GRAMMAR_31.openapi, $self: 'foreign' },
  components: { ...GRAMMAR_31.components, mediaTypes: ['map', 'mediaType'] },
  pathItem: {
    ...GRAMMAR_31.pathItem,
    query: 'foreign',
    additionalOperations: 'foreign',
  },
  mediaType: {
    ...GRAMMAR_31.mediaType,
    ...each(['itemSchema', 'prefixEncoding', 'itemEncoding'], 'foreign'),
  },
  encoding: {
    ...GRAMMAR_31.encoding,
    ...each(['encoding', 'prefixEncoding', 'itemEncoding'], 'foreign'),
  },
  response: { ...GRAMMAR_31.response, summary: 'string' },
  example: {
    ...GRAMMAR_31.example,
    dataValue: 'any',
    serializedValue: 'string',
  },
};

/** Of `components`. */
export const sectionOf = (
  { components }: Grammar,
  kind: Kind,
): string | undefined =>
  Object.keys(components).find((section) => components[section]![1] === kind);

/** `undefined` for an extension, and for a name that the grammar does not have. */
export function fieldOf(
  grammar: Grammar,
  kind: Kind,
  name: string,
): Field | undefined {
  if (name.startsWith('x-')) return undefined;
  const fields = grammar[kind];
  return Object.hasOwn(fields, name) ? fields[name] : fields['*'];
}

/** The objects that the grammar describes; none if the field has another form. */
export function membersOf(
  node: Json,
  key: string,
  field: Field,
): (readonly [holder: Json, name: string, kind: Kind])[] {
  if (typeof field === 'string') return [];
  const [form, kind] = field;
  if (form === 'one' || form === 'oneOrBoolean') return [[node, key, kind]];
  const { [key]: value } = node;
  if (
    typeof value !== 'object' ||
    value === null ||
    Array.isArray(value) !== (form === 'list')
  )
    return [];
  return Object.keys(value).map((name) => [value as Json, name, kind]);
}

/**
 * The object and all objects inside of it, each once. Everything else in a document is data, and its
 * names are no keywords: those in maps, examples, values of `enum` and extensions.
 */
export function* nodesIn(
  grammar: Grammar,
  node: Json,
  kind: Kind,
): Generator<readonly [node: Json, kind: Kind]> {
  const nodes = new Map([[node, kind]]);
  for (const [outer, of] of nodes) {
    yield [outer, of];
    for (const key of Object.keys(outer)) {
      const field = fieldOf(grammar, of, key);
      if (field === undefined) continue;
      for (const [holder, name, inner] of membersOf(outer, key, field)) {
        const { [name]: value } = holder;
        if (isObject(value) && !nodes.has(value)) nodes.set(value, inner);
      }
    }
  }
}

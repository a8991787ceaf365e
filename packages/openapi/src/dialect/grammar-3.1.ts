import { type Field, type Fields, GRAMMAR, type Grammar, SECTIONS, type Sections } from './grammar.ts';

const SCHEMA: Field = { oneOrBoolean: 'schema' };

const each = (names: readonly string[], field: Field): Fields => Object.fromEntries(names.map((name) => [name, field]));

const SCHEMA_FIELDS: Fields = {
  ...each(['$id', '$schema', '$anchor', '$dynamicAnchor', '$ref', '$dynamicRef'], 'string'),
  ...each(['$comment', '$vocabulary', 'title', 'description', 'default', 'examples', 'example'], 'any'),
  ...each(['type', 'enum', 'const', 'required', 'dependentRequired'], 'any'),
  ...each(['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'], 'any'),
  ...each(['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems'], 'any'),
  ...each(['maxContains', 'minContains', 'maxProperties', 'minProperties'], 'any'),
  ...each(['format', 'contentEncoding', 'contentMediaType'], 'string'),
  ...each(['deprecated', 'readOnly', 'writeOnly'], 'boolean'),
  ...each(['discriminator', 'xml', 'externalDocs', 'nullable'], 'any'),
  ...each(['not', 'if', 'then', 'else', 'items', 'contains', 'propertyNames', 'contentSchema'], SCHEMA),
  ...each(['additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'], SCHEMA),
  ...each(['allOf', 'oneOf', 'anyOf', 'prefixItems'], { list: 'schema' }),
  ...each(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'], { map: 'schema' }),
};

export const GRAMMAR_31: Grammar = {
  ...GRAMMAR,
  openapi: { ...GRAMMAR.openapi, jsonSchemaDialect: 'string', webhooks: { map: 'pathItem' } },
  info: { ...GRAMMAR.info, summary: 'string' },
  components: { ...GRAMMAR.components, pathItems: { map: 'pathItem' } },
  parameter: { ...GRAMMAR.parameter, schema: SCHEMA },
  header: { ...GRAMMAR.header, schema: SCHEMA },
  mediaType: { ...GRAMMAR.mediaType, schema: SCHEMA },
  schema: SCHEMA_FIELDS,
};

/** The additions of OpenAPI 3.2 to requests and responses are not checked. */
export const GRAMMAR_32: Grammar = {
  ...GRAMMAR_31,
  openapi: { ...GRAMMAR_31.openapi, $self: 'foreign' },
  components: { ...GRAMMAR_31.components, mediaTypes: { map: 'mediaType' } },
  pathItem: { ...GRAMMAR_31.pathItem, query: 'foreign', additionalOperations: 'foreign' },
  mediaType: { ...GRAMMAR_31.mediaType, ...each(['itemSchema', 'prefixEncoding', 'itemEncoding'], 'foreign') },
  encoding: { ...GRAMMAR_31.encoding, ...each(['encoding', 'prefixEncoding', 'itemEncoding'], 'foreign') },
  response: { ...GRAMMAR_31.response, summary: 'string' },
  example: { ...GRAMMAR_31.example, dataValue: 'any', serializedValue: 'string' },
};

export const SECTIONS_31: Sections = { ...SECTIONS, pathItem: 'pathItems' };
export const SECTIONS_32: Sections = { ...SECTIONS_31, mediaType: 'mediaTypes' };

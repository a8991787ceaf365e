export type Kind =
  | 'openapi'
  | 'info'
  | 'components'
  | 'paths'
  | 'pathItem'
  | 'operation'
  | 'parameter'
  | 'requestBody'
  | 'mediaType'
  | 'encoding'
  | 'responses'
  | 'response'
  | 'callback'
  | 'example'
  | 'link'
  | 'header'
  | 'schema'
  | 'securityScheme';

/** A `foreign` field affects requests but is not supported, which is a mistake. */
export type Field =
  | { readonly one: Kind }
  | { readonly list: Kind }
  | { readonly map: Kind }
  | { readonly oneOrBoolean: Kind }
  | 'foreign'
  | 'string'
  | 'boolean'
  | 'any';

/** `*` stands for every other name except extensions (`x-…`). */
export type Fields = Readonly<Record<string, Field>>;

const PARAMETER: Fields = {
  description: 'string',
  required: 'boolean',
  deprecated: 'boolean',
  allowEmptyValue: 'boolean',
  style: 'string',
  explode: 'boolean',
  allowReserved: 'boolean',
  schema: { one: 'schema' },
  example: 'any',
  examples: { map: 'example' },
  content: { map: 'mediaType' },
};

const METHODS_OF: Fields = Object.fromEntries(
  ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'].map((method) => [method, { one: 'operation' }]),
);

export type Grammar = Readonly<Record<Kind, Fields>>;

/** OpenAPI 3.0.3, section "Schema". */
export const GRAMMAR: Grammar = {
  openapi: {
    openapi: 'string',
    info: { one: 'info' },
    servers: 'any',
    paths: { one: 'paths' },
    components: { one: 'components' },
    security: 'any',
    tags: 'any',
    externalDocs: 'any',
  },
  info: {
    title: 'string',
    version: 'string',
    description: 'string',
    termsOfService: 'string',
    contact: 'any',
    license: 'any',
  },
  components: {
    schemas: { map: 'schema' },
    responses: { map: 'response' },
    parameters: { map: 'parameter' },
    examples: { map: 'example' },
    requestBodies: { map: 'requestBody' },
    headers: { map: 'header' },
    securitySchemes: { map: 'securityScheme' },
    links: { map: 'link' },
    callbacks: { map: 'callback' },
  },
  paths: { '*': { one: 'pathItem' } },
  pathItem: {
    ...METHODS_OF,
    summary: 'string',
    description: 'string',
    servers: 'any',
    parameters: { list: 'parameter' },
  },
  operation: {
    tags: 'any',
    summary: 'string',
    description: 'string',
    externalDocs: 'any',
    operationId: 'string',
    parameters: { list: 'parameter' },
    requestBody: { one: 'requestBody' },
    responses: { one: 'responses' },
    callbacks: { map: 'callback' },
    deprecated: 'boolean',
    security: 'any',
    servers: 'any',
  },
  parameter: { name: 'string', in: 'string', ...PARAMETER },
  requestBody: { description: 'string', content: { map: 'mediaType' }, required: 'boolean' },
  mediaType: {
    schema: { one: 'schema' },
    example: 'any',
    examples: { map: 'example' },
    encoding: { map: 'encoding' },
  },
  encoding: {
    contentType: 'string',
    headers: { map: 'header' },
    style: 'string',
    explode: 'boolean',
    allowReserved: 'boolean',
  },
  responses: { '*': { one: 'response' } },
  response: {
    description: 'string',
    headers: { map: 'header' },
    content: { map: 'mediaType' },
    links: { map: 'link' },
  },
  callback: { '*': { one: 'pathItem' } },
  example: { summary: 'string', description: 'string', value: 'any', externalValue: 'string' },
  link: {
    operationRef: 'string',
    operationId: 'string',
    parameters: 'any',
    requestBody: 'any',
    description: 'string',
    server: 'any',
  },
  header: PARAMETER,
  schema: {
    title: 'any',
    multipleOf: 'any',
    maximum: 'any',
    exclusiveMaximum: 'any',
    minimum: 'any',
    exclusiveMinimum: 'any',
    maxLength: 'any',
    minLength: 'any',
    pattern: 'any',
    maxItems: 'any',
    minItems: 'any',
    uniqueItems: 'any',
    maxProperties: 'any',
    minProperties: 'any',
    required: 'any',
    enum: 'any',
    type: 'any',
    allOf: { list: 'schema' },
    oneOf: { list: 'schema' },
    anyOf: { list: 'schema' },
    not: { one: 'schema' },
    items: { one: 'schema' },
    properties: { map: 'schema' },
    additionalProperties: { oneOrBoolean: 'schema' },
    description: 'any',
    format: 'string',
    default: 'any',
    nullable: 'any',
    discriminator: 'any',
    readOnly: 'boolean',
    writeOnly: 'boolean',
    xml: 'any',
    externalDocs: 'any',
    example: 'any',
    deprecated: 'boolean',
  },
  securityScheme: { '*': 'any' },
};

export type Sections = Readonly<Partial<Record<Kind, string>>>;

export const SECTIONS: Sections = {
  schema: 'schemas',
  response: 'responses',
  parameter: 'parameters',
  example: 'examples',
  requestBody: 'requestBodies',
  header: 'headers',
  securityScheme: 'securitySchemes',
  link: 'links',
  callback: 'callbacks',
};

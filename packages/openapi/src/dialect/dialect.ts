import {
  isObject,
  isReference as isReference30,
  type Json,
} from '../document/source.ts';
import { isJson, isXml, parseMediaType } from '../media/type.ts';
import { GRAMMAR_30, GRAMMAR_31, GRAMMAR_32, type Grammar } from './grammar.ts';

export type KeywordValues = readonly [
  complaint: string,
  test: (value: unknown) => boolean,
];

const isNumber = (value: unknown) =>
  typeof value === 'number' || typeof value === 'bigint';

const aNumber: KeywordValues = ['must be a number', isNumber];
const aCount: KeywordValues = [
  'must be a whole number, 0 or more',
  (value) =>
    (typeof value === 'bigint' || Number.isInteger(value)) &&
    Number(value) >= 0,
];
export const aBoolean: KeywordValues = [
  'must be true or false',
  (value) => typeof value === 'boolean',
];
export const aText: KeywordValues = [
  'must be a string',
  (value) => typeof value === 'string',
];

const someSchemas: KeywordValues = [
  'must be a list with at least one schema',
  (value) => !Array.isArray(value) || value.length > 0,
];

const isListOfNames = (value: unknown) =>
  Array.isArray(value) &&
  value.every((name) => typeof name === 'string') &&
  new Set(value).size === value.length;

/** Lists of schemas were already checked to be lists. */
const KEYWORD_VALUES: Readonly<Record<string, KeywordValues>> = {
  multipleOf: [
    'must be a number above 0',
    (value) => isNumber(value) && Number(value) > 0,
  ],
  maximum: aNumber,
  minimum: aNumber,
  maxLength: aCount,
  minLength: aCount,
  maxItems: aCount,
  minItems: aCount,
  maxProperties: aCount,
  minProperties: aCount,
  uniqueItems: aBoolean,
  pattern: aText,
  format: aText,
  allOf: someSchemas,
  oneOf: someSchemas,
  anyOf: someSchemas,
  enum: [
    'must be a list with at least one value',
    (value) => Array.isArray(value) && value.length > 0,
  ],
  required: ['must be a list of names', isListOfNames],
};

/** `types` excludes null, and is `null` if the schema names no types. */
export interface Types {
  readonly types: readonly string[] | null;
  readonly nullable: boolean;
}

type Note = readonly [keyword: string, message: string];

export interface Dialect {
  readonly name: string;
  readonly grammar: Grammar;
  readonly identifiers: boolean;
  readonly xmlNodeTypes: boolean;
  readonly needsResponses: boolean;
  readonly withoutPaths: string;
  isReference(node: Json): boolean;

  readonly keywordValues: Readonly<Record<string, KeywordValues>>;
  /** The keywords must be valid, here and for the functions below. */
  typesOf(said: Json): Types;
  /** Members may be undefined. */
  limitsOf(said: Json): Json;
  isBinary(schema: Json): boolean;
  isEncoded(schema: Json): boolean;
  /** The keywords may be invalid. */
  shownTypes(schema: Json): ReadonlySet<string> | null;
  valuesIn(schema: Json): readonly unknown[] | null;
  /** They are checked, but do not convert text to a number or a list. */
  readonly unread: readonly string[];
  readonly textual: readonly string[];
  notes(schema: Json, said: Json): readonly Note[];
  /** The schema, or an empty object in OpenAPI 3.0, which has `not` and `items` only. */
  applicators(schema: Json): Json;
  /** For the same value; without `allOf`, `oneOf` and `anyOf`. */
  inPlace(schema: Json): readonly unknown[];
}

const TYPES_30 = new Set<unknown>([
  'array',
  'boolean',
  'integer',
  'number',
  'object',
  'string',
]);

const OPENAPI_30: Dialect = {
  name: 'OpenAPI 3.0',
  grammar: GRAMMAR_30,
  identifiers: false,
  xmlNodeTypes: false,
  needsResponses: true,
  withoutPaths: 'an OpenAPI document needs paths',
  isReference: isReference30,
  keywordValues: {
    type: [
      'must be array, boolean, integer, number, object or string',
      (value) => TYPES_30.has(value),
    ],
    ...KEYWORD_VALUES,
    exclusiveMaximum: aBoolean,
    exclusiveMinimum: aBoolean,
    nullable: aBoolean,
  },
  typesOf: ({ type, nullable }) => ({
    types: typeof type === 'string' ? [type] : null,
    nullable: nullable === true && type !== undefined,
  }),
  limitsOf: ({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }) => ({
    [exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum']: minimum,
    [exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum']: maximum,
  }),
  isBinary: ({ format }) => format === 'binary',
  isEncoded: () => false,
  shownTypes: ({ type, enum: values, properties, items }) =>
    shownTypes({ type, enum: values, properties, items }),
  valuesIn: ({ enum: values }) => (Array.isArray(values) ? values : null),
  unread: [],
  textual: ['pattern', 'enum', 'format'],
  notes(_schema, { nullable, type, enum: values }) {
    if (nullable !== true) return [];
    if (type === undefined)
      return [
        [
          'nullable',
          'nullable has no effect without a type, as OpenAPI 3.0.3 says',
        ],
      ];
    const barred = Array.isArray(values) && !values.includes(null);
    return barred
      ? [['nullable', 'nullable has no effect: enum does not list null']]
      : [];
  },
  applicators: () => ({}),
  inPlace: () => [],
};

const TYPES = new Set<unknown>([...TYPES_30, 'null']);

const ANNOTATIONS = new Set([
  '$ref',
  '$comment',
  '$defs',
  'definitions',
  '$anchor',
  '$dynamicAnchor',
  '$schema',
  '$vocabulary',
  'title',
  'description',
  'summary',
  'default',
  'deprecated',
  'example',
  'examples',
  'externalDocs',
  'nullable',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
]);

const WITHOUT_VALUES = ['enum', 'enum lists no value, so none fits'] as const;
const NULLABLE = [
  'nullable',
  'nullable means nothing in OpenAPI 3.1: a list of types that has null does',
] as const;

const OPENAPI_31: Dialect = {
  name: 'OpenAPI 3.1',
  grammar: GRAMMAR_31,
  identifiers: true,
  xmlNodeTypes: false,
  needsResponses: false,
  withoutPaths:
    'the document has no paths, and so no operations: there is nothing to serve',
  isReference,
  keywordValues: {
    type: [
      'must be array, boolean, integer, null, number, object or string, or a list of these',
      isTypes,
    ],
    ...KEYWORD_VALUES,
    enum: ['must be a list', Array.isArray],
    exclusiveMaximum: aNumber,
    exclusiveMinimum: aNumber,
    maxContains: aCount,
    minContains: aCount,
    const: ['must be a value', () => true],
    dependentRequired: [
      'must be an object with lists of names',
      (value) => isObject(value) && Object.values(value).every(isListOfNames),
    ],
  },
  typesOf({ type }) {
    if (type === undefined) return { types: null, nullable: false };
    const all = [type].flat() as string[];
    return {
      types: all.filter((one) => one !== 'null'),
      nullable: all.includes('null'),
    };
  },
  limitsOf: ({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }) => ({
    minimum,
    exclusiveMinimum,
    maximum,
    exclusiveMaximum,
  }),
  isBinary,
  isEncoded: ({ contentEncoding }) => typeof contentEncoding === 'string',
  shownTypes,
  valuesIn(schema) {
    if ('const' in schema) return [schema.const];
    return Array.isArray(schema.enum) ? schema.enum : null;
  },
  unread: [
    'patternProperties',
    'prefixItems',
    'unevaluatedItems',
    'unevaluatedProperties',
  ],
  textual: ['pattern', 'enum', 'format', 'const'],
  notes: (schema) => [
    ...(Array.isArray(schema.enum) && schema.enum.length === 0
      ? [WITHOUT_VALUES]
      : []),
    ...('nullable' in schema ? [NULLABLE] : []),
    ...['contentEncoding', 'contentMediaType', 'contentSchema']
      .filter((keyword) => schema[keyword] !== undefined && !isBinary(schema))
      .map(
        (keyword): Note => [
          keyword,
          `${keyword} is not enforced: it describes what is in the text`,
        ],
      ),
  ],
  applicators: (schema) => schema,
  inPlace: ({ $ref, $dynamicRef, then, else: otherwise, dependentSchemas }) => [
    ...(typeof $ref === 'string' ? [{ $ref }] : []),
    ...(typeof $dynamicRef === 'string' ? [{ $ref: $dynamicRef }] : []),
    then,
    otherwise,
    ...(isObject(dependentSchemas) ? Object.values(dependentSchemas) : []),
  ],
};

const OPENAPI_32: Dialect = {
  ...OPENAPI_31,
  name: 'OpenAPI 3.2',
  grammar: GRAMMAR_32,
  xmlNodeTypes: true,
};

export const DEFAULT = OPENAPI_30;

export function dialectOf({ openapi }: Json): Dialect | null {
  const [, minor] =
    typeof openapi === 'string'
      ? (/^3\.([0-2])\.\d+(?:-.+)?$/.exec(openapi) ?? [])
      : [];
  return minor === undefined
    ? null
    : [OPENAPI_30, OPENAPI_31, OPENAPI_32][Number(minor)]!;
}

function isReference(node: Json): boolean {
  if (typeof node.$ref !== 'string') return false;
  return Object.keys(node).every(
    (key) =>
      ANNOTATIONS.has(key) ||
      !Object.hasOwn(GRAMMAR_31.schema, key) ||
      (key === 'required' && !Array.isArray(node.required)),
  );
}

function isTypes(type: unknown): boolean {
  if (!Array.isArray(type)) return TYPES.has(type);
  return (
    type.length > 0 &&
    type.every((one) => TYPES.has(one)) &&
    new Set(type).size === type.length
  );
}

/**
 * Media types other than text, JSON and XML describe bytes, unless `contentEncoding` makes them
 * text.
 */
function isBinary({
  format,
  contentMediaType,
  contentEncoding,
}: Json): boolean {
  if (format === 'binary') return true;
  if (typeof contentMediaType !== 'string' || contentEncoding !== undefined)
    return false;
  const type = parseMediaType(contentMediaType);
  return type !== null && type.type !== 'text' && !isJson(type) && !isXml(type);
}

function shownTypes(schema: Json): ReadonlySet<string> | null {
  const {
    type,
    enum: values,
    properties,
    patternProperties,
    items,
    prefixItems,
  } = schema;
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(type))
    return new Set(
      type.length > 1 ? type.filter((one) => one !== 'null') : type,
    );
  if ('const' in schema) return new Set([typeOfValue(schema.const)]);
  if (Array.isArray(values)) return new Set(values.map(typeOfValue));
  if (properties !== undefined || patternProperties !== undefined)
    return new Set(['object']);
  return items === undefined && prefixItems === undefined
    ? null
    : new Set(['array']);
}

function typeOfValue(value: unknown): string {
  if (typeof value === 'bigint') return 'integer';
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

import { Ajv } from 'ajv';
import { isReference } from '../document/source.ts';
import type { Dialect } from './dialect.ts';
import { GRAMMAR_30 } from './grammar.ts';
import { aBoolean, KEYWORD_VALUES } from './keyword-values.ts';
import { shownTypes } from './openapi-3.1.ts';

const TYPES = new Set<unknown>(['array', 'boolean', 'integer', 'number', 'object', 'string']);

export const OPENAPI_30: Dialect = {
  name: 'OpenAPI 3.0',
  grammar: GRAMMAR_30,
  identifiers: false,
  optional: new Set(),
  withoutPaths: 'an OpenAPI document needs paths',
  isReference,
  keywordValues: {
    type: ['must be array, boolean, integer, number, object or string', (value) => TYPES.has(value)],
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
    ...(minimum !== undefined && { [exclusiveMinimum === true ? 'moreThan' : 'atLeast']: minimum }),
    ...(maximum !== undefined && { [exclusiveMaximum === true ? 'lessThan' : 'atMost']: maximum }),
  }),
  isBinary: ({ format }) => format === 'binary',
  isEncoded: () => false,
  shownTypes: ({ type, enum: values, properties, items }) => shownTypes({ type, enum: values, properties, items }),
  valuesIn: ({ enum: values }) => (Array.isArray(values) ? values : null),
  unread: [],
  textual: ['pattern', 'enum', 'format'],
  notes(_schema, { nullable, type, enum: values }) {
    if (nullable !== true) return [];
    if (type === undefined) return [['nullable', 'nullable has no effect without a type, as OpenAPI 3.0.3 says']];
    const barred = Array.isArray(values) && !values.includes(null);
    return barred ? [['nullable', 'nullable has no effect: enum does not list null']] : [];
  },
  applicators: () => ({}),
  inPlace: () => [],
  createAjv: (options) => new Ajv(options),
};

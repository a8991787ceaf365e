import { Ajv } from 'ajv';
import { isReference, type Json } from '../document/source.ts';
import type { Dialect } from './dialect.ts';
import { GRAMMAR, SECTIONS } from './grammar.ts';
import { aBoolean, KEYWORD_VALUES } from './keyword-values.ts';
import { typeOfValue } from './values.ts';

const TYPES = new Set<unknown>(['array', 'boolean', 'integer', 'number', 'object', 'string']);

export const OPENAPI_30: Dialect = {
  name: 'OpenAPI 3.0',
  grammar: GRAMMAR,
  sections: SECTIONS,
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
  shownTypes,
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

function shownTypes({ type, enum: values, properties, items }: Json): ReadonlySet<string> | null {
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(values)) return new Set(values.map(typeOfValue));
  if (properties !== undefined) return new Set(['object']);
  return items === undefined ? null : new Set(['array']);
}

export type KeywordValues = readonly [complaint: string, test: (value: unknown) => boolean];

export const isNumber = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'bigint';

export const aNumber: KeywordValues = ['must be a number', isNumber];
export const aCount: KeywordValues = [
  'must be a whole number, 0 or more',
  (value) => (typeof value === 'bigint' || Number.isInteger(value)) && Number(value) >= 0,
];
export const aBoolean: KeywordValues = [
  'must be true or false',
  (value) => typeof value === 'boolean',
];
export const aText: KeywordValues = ['must be a string', (value) => typeof value === 'string'];

const someSchemas: KeywordValues = [
  'must be a list with at least one schema',
  (value) => !Array.isArray(value) || value.length > 0,
];

export const isListOfNames = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every((name) => typeof name === 'string') &&
  new Set(value).size === value.length;

/** Lists of schemas were already checked to be lists. */
export const KEYWORD_VALUES: Readonly<Record<string, KeywordValues>> = {
  multipleOf: ['must be a number above 0', (value) => isNumber(value) && Number(value) > 0],
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

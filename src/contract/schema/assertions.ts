import { type Limit, limitOf } from '../../errors/fault.ts';
import { isObject, type Json } from '../document/source.ts';
import type { Findings } from '../findings.ts';
import { STRING_FORMATS } from '../formats.ts';
import { RANGES } from '../numbers.ts';
import { PatternError, Patterns } from '../patterns/pattern.ts';
import type { Allowed, Matched } from './keywords.ts';
import { canonical } from './values.ts';

const TYPES = new Set(['array', 'boolean', 'integer', 'number', 'object', 'string']);

/** The longest list of allowed values that a fault shows, in characters. */
const LONGEST_LIST = 200;

type Sound = readonly [complaint: string, test: (value: unknown) => boolean];

const isNumber = (value: unknown): boolean => typeof value === 'number' || typeof value === 'bigint';
const aNumber: Sound = ['must be a number', isNumber];
const aCount: Sound = [
  'must be a whole number, 0 or more',
  (value) => (typeof value === 'bigint' || Number.isInteger(value)) && Number(value) >= 0,
];
const aBoolean: Sound = ['must be true or false', (value) => typeof value === 'boolean'];

const someSchemas: Sound = [
  'must be a list with at least one schema',
  (value) => !Array.isArray(value) || value.length > 0,
];

/** The valid values of keywords. Reading the document has already checked that lists of schemas are lists. */
const SOUND: Readonly<Record<string, Sound>> = {
  type: ['must be array, boolean, integer, number, object or string', (value) => TYPES.has(value as string)],
  multipleOf: ['must be a number above 0', (value) => isNumber(value) && Number(value) > 0],
  maximum: aNumber,
  minimum: aNumber,
  exclusiveMaximum: aBoolean,
  exclusiveMinimum: aBoolean,
  maxLength: aCount,
  minLength: aCount,
  maxItems: aCount,
  minItems: aCount,
  maxProperties: aCount,
  minProperties: aCount,
  uniqueItems: aBoolean,
  nullable: aBoolean,
  pattern: ['must be a string', (value) => typeof value === 'string'],
  format: ['must be a string', (value) => typeof value === 'string'],
  allOf: someSchemas,
  oneOf: someSchemas,
  anyOf: someSchemas,
  enum: ['must be a list with at least one value', (value) => Array.isArray(value) && value.length > 0],
  required: [
    'must be a list of names',
    (value) =>
      Array.isArray(value) && value.every((name) => typeof name === 'string') && new Set(value).size === value.length,
  ],
};

/** The keywords of a schema that involve no other schemas. */
export class Assertions {
  readonly #findings: Findings;
  readonly #patterns = new Patterns();
  readonly #plain: boolean;

  /** `integers`: whether only what is written as an integer is one. */
  constructor(findings: Findings, integers: 'plain' | 'any') {
    this.#findings = findings;
    this.#plain = integers === 'plain';
  }

  /** The keywords for ajv. It reports keywords with invalid values and leaves them out. */
  of(schema: Json): Json {
    const said = this.#sound(schema);
    const type = said.type as string | undefined;
    if (said.nullable === true && type === undefined) {
      this.#findings.note(schema, 'nullable', 'nullable has no effect without a type, as OpenAPI 3.0.3 says');
    }
    const binary = said.format === 'binary' && (type === 'string' || type === undefined);
    if (binary && said.pattern !== undefined) {
      this.#findings.note(schema, 'pattern', 'is enforced on text only, not on bytes (format: binary)');
    }
    return {
      ...(binary || type === undefined ? contentOf(said) : typeOf(type, said.nullable === true, this.#plain)),
      ...numbers(said),
      ...pick(said, binary || type === undefined ? SIZES : [...LENGTHS, ...SIZES]),
      ...(said.uniqueItems === true && { different: true }),
      ...this.#pattern(schema, said.pattern as string | undefined),
      ...this.#format(schema, type, said.format as string | undefined),
      ...this.#enum(schema, said),
    };
  }

  #sound(schema: Json): Json {
    const said: Json = {};
    for (const [keyword, [complaint, test]] of Object.entries(SOUND)) {
      if (!Object.hasOwn(schema, keyword)) continue;
      if (test(schema[keyword])) said[keyword] = schema[keyword];
      else this.#findings.problem(schema, keyword, complaint);
    }
    return said;
  }

  #pattern(schema: Json, source: string | undefined): Json {
    if (source === undefined) return {};
    try {
      const pattern = this.#patterns.compile(source);
      return { matches: { source, native: pattern instanceof RegExp ? pattern : null } satisfies Matched };
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      this.#findings.problem(schema, 'pattern', `the pattern ${error.message}`);
      return {};
    }
  }

  #format(schema: Json, type: string | undefined, format: string | undefined): Json {
    if (format === undefined) return {};
    const numeric = type === 'integer' || type === 'number';
    if (Object.hasOwn(RANGES, format) && (numeric || type === undefined)) return { width: format };
    if (Object.hasOwn(STRING_FORMATS, format) && (type === 'string' || type === undefined)) return { format };
    this.#findings.note(
      schema,
      'format',
      `format ${format}${type ? ` of type ${type}` : ''} is not known: it is not enforced`,
    );
    return {};
  }

  #enum(schema: Json, { enum: values, nullable, type }: Json): Json {
    if (!Array.isArray(values)) return {};
    if (nullable === true && type !== undefined && !values.includes(null)) {
      this.#findings.note(schema, 'nullable', 'nullable has no effect: enum does not list null');
    }
    return { among: allowed(values) };
  }
}

const LENGTHS = ['minLength', 'maxLength'];
const SIZES = ['minItems', 'maxItems', 'minProperties', 'maxProperties'];

/** A string of `format: binary` may be bytes, see `Binary`, and so may a value of any type. */
function contentOf({ type, nullable, minLength, maxLength }: Json): Json {
  return {
    ...(type === 'string' && { content: { nullable: nullable === true } }),
    ...(minLength !== undefined && { shortest: minLength }),
    ...(maxLength !== undefined && { longest: maxLength }),
  };
}

function typeOf(type: string, nullable: boolean, plain: boolean): Json {
  if (type === 'integer' || type === 'number') return { numeric: { integer: type === 'integer', nullable, plain } };
  return { type: nullable ? [type, 'null'] : type };
}

function numbers({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: Json): Json {
  return {
    ...(minimum !== undefined && { [exclusiveMinimum === true ? 'moreThan' : 'atLeast']: minimum }),
    ...(maximum !== undefined && { [exclusiveMaximum === true ? 'lessThan' : 'atMost']: maximum }),
    ...(multipleOf !== undefined && { multiple: multipleOf }),
  };
}

function pick(said: Json, keywords: readonly string[]): Json {
  return Object.fromEntries(
    keywords.filter((keyword) => keyword in said).map((keyword) => [keyword, Number(said[keyword])]),
  );
}

/** The values of an `enum`, for the keyword `among`. */
export function allowed(values: readonly unknown[]): Allowed {
  const list = values.map(tell).join(', ');
  const many =
    list.length > LONGEST_LIST ? `one of the ${values.length} values that the contract lists` : `one of: ${list}`;
  return {
    values: new Set(values.map(canonical)),
    composite: values.some((value) => Array.isArray(value) || isObject(value)),
    text: values.length === 1 && list.length <= LONGEST_LIST ? list : many,
    limit: list.length > LONGEST_LIST || values.some((value) => !isPlain(value)) ? undefined : values.map(plain),
  };
}

const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null;

const plain = (value: unknown): Limit =>
  typeof value === 'bigint' || typeof value === 'number' ? limitOf(value) : (value as Limit);

function tell(value: unknown): string {
  if (typeof value === 'string') return value === '' ? "''" : value;
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? JSON.rawJSON(String(part)) : part));
}

import {
  _,
  type Code,
  type CodeKeywordDefinition,
  type KeywordCxt,
  type KeywordErrorDefinition,
} from 'ajv';
import { Binary, isContent, sizeOf } from '../binary.ts';
import { type Bar, type Limit, limitOf, MAX_FAULTS } from '../faults.ts';
import type { Marks } from '../marks.ts';
import { multipleOf, RANGES } from '../numbers.ts';
import { compilePattern } from '../patterns/pattern.ts';
import { INCOMPLETE } from './memory.ts';
import { tested, work } from './pauses.ts';
import { allDifferent, canonical } from './values.ts';

export interface Allowed {
  readonly values: ReadonlySet<unknown>;
  readonly composite: boolean;
  readonly text: string;
  /** `undefined` if there are too many values, or some are not plain. */
  readonly limit: Limit | undefined;
}

export interface Matched {
  readonly source: string;
  readonly native: RegExp | null;
}

export interface Types {
  readonly types: readonly string[];
  /** Integers in other notations do not count as integers. */
  readonly plain: boolean;
}

export interface Refused {
  readonly why: Bar;
  /** Of the members that may have been meant. */
  readonly known: readonly string[];
}

export const constant = (cxt: Pick<KeywordCxt, 'gen'>, ref: unknown): Code =>
  cxt.gen.scopeValue('keyword', { ref });

type Params = KeywordErrorDefinition['params'];

/**
 * `fails` is true for a value that does not match. The sentence of the fault is built from `params`
 * on demand.
 */
const keyword = (
  keyword: string,
  fails: (cxt: KeywordCxt) => Code,
  params?: Params,
): CodeKeywordDefinition => ({
  keyword,
  code: (cxt) => cxt.fail(fails(cxt)),
  ...(params && { error: { message: '', params } }),
});

const isNumeric = (data: Code) =>
  _`(typeof ${data} == "number" || typeof ${data} == "bigint")`;

const limitIn: Params = ({ schema }) => _`{limit: ${limitOf(schema)}}`;

/** JavaScript compares numbers and bigints exactly. */
const limit = (name: string, outside: (data: Code, limit: Code) => Code) =>
  keyword(
    name,
    (cxt) =>
      _`${isNumeric(cxt.data)} && ${outside(cxt.data, constant(cxt, cxt.schema))}`,
    limitIn,
  );

/**
 * In characters of a string, or bytes of a Binary. Most strings need no count of their characters,
 * which are one or two code units each.
 */
const length = (
  name: string,
  outside: (size: Code, limit: number) => Code,
  units: (limit: number) => number,
) =>
  keyword(
    name,
    ({ gen, data, schema }) => {
      const mayFail = _`typeof ${data} != "string" || ${outside(_`${data}.length`, units(schema))}`;
      return _`(${mayFail}) && ${outside(_`${constant({ gen }, sizeOf)}(${data})`, schema)}`;
    },
    ({ schema, data }) =>
      _`{limit: ${limitOf(schema)}, bytes: typeof ${data} != "string"}`,
  );

const listed = (name: string) =>
  keyword(
    name,
    (cxt) => {
      const { values, composite } = cxt.schema as Allowed;
      const value = composite
        ? _`${constant(cxt, canonical)}(${cxt.data})`
        : cxt.data;
      return _`!${constant(cxt, values)}.has(${value})`;
    },
    (cxt) =>
      _`{text: ${cxt.schema.text}, values: ${constant(cxt, cxt.schema)}.limit}`,
  );

function isMarked(
  cxt: Pick<KeywordCxt, 'gen'> & {
    it: Pick<KeywordCxt['it'], 'parentData' | 'parentDataProperty'>;
  },
  kind: keyof Marks,
): Code {
  const { parentData, parentDataProperty } = cxt.it;
  const marks = _`${constant(cxt, work)}.pass.marks`;
  return _`${marks} !== null && ${marks}[${kind}].has(${parentData}, ${parentDataProperty})`;
}

function testOf(type: string, cxt: KeywordCxt, plain: boolean): Code {
  const { data } = cxt;
  if (type === 'number') return isNumeric(data);
  if (type === 'null') return _`${data} === null`;
  if (type === 'array') return _`Array.isArray(${data})`;
  if (type === 'object')
    return _`(${data} && typeof ${data} == "object" && !Array.isArray(${data}) && !(${data} instanceof ${constant(cxt, Binary)}))`;
  if (type !== 'integer') return _`typeof ${data} == ${type}`;
  const whole = _`(typeof ${data} == "bigint" || Number.isInteger(${data}))`;
  return plain ? _`(${whole} && !(${isMarked(cxt, 'unlikeIntegers')}))` : whole;
}

/** In place of ajv's, with values that the translation from OpenAPI prepares, or not in ajv. */
export const KEYWORDS: readonly CodeKeywordDefinition[] = [
  keyword(
    'kinds',
    (cxt) => {
      const { types, plain } = cxt.schema as Types;
      const tests = types.map((type) => testOf(type, cxt, plain));
      return _`!(${tests.reduce((all, test) => _`${all} || ${test}`)})`;
    },
    (cxt) => {
      const { types } = cxt.schema as Types;
      return _`{type: ${constant(cxt, types.length === 1 ? types[0] : types)}}`;
    },
  ),
  limit('minimum', (data, limit) => _`${data} < ${limit}`),
  limit('maximum', (data, limit) => _`${data} > ${limit}`),
  limit('exclusiveMinimum', (data, limit) => _`${data} <= ${limit}`),
  limit('exclusiveMaximum', (data, limit) => _`${data} >= ${limit}`),
  keyword(
    'width',
    (cxt) => {
      const { integer, least, most } = RANGES[cxt.schema as string]!;
      const { data } = cxt;
      const outside = _`${data} < ${constant(cxt, least)} || ${data} > ${constant(cxt, most)}`;
      const broken = integer
        ? _`${outside} || typeof ${data} == "number" && !Number.isInteger(${data})`
        : outside;
      return _`${isNumeric(data)} && (${broken})`;
    },
    ({ schema }) => _`{format: ${schema}}`,
  ),
  keyword(
    'multipleOf',
    (cxt) =>
      _`${isNumeric(cxt.data)} && !${constant(cxt, multipleOf(cxt.schema as number | bigint))}(${cxt.data})`,
    limitIn,
  ),
  listed('enum'),
  listed('const'),
  keyword(
    'pattern',
    (cxt) => {
      const { source, native } = cxt.schema as Matched;
      const pattern = native ?? compilePattern(source);
      const test = (text: string) => pattern.test(text);
      const fits = (text: string) => tested(pattern, text, test);
      return _`typeof ${cxt.data} == "string" && !${constant(cxt, fits)}(${cxt.data})`;
    },
    ({ schema }) => _`{pattern: ${schema.source}}`,
  ),
  keyword(
    'content',
    (cxt) => {
      const { nullable } = cxt.schema as { nullable: boolean };
      const fits = _`(${constant(cxt, isContent)}(${cxt.data}) && !(${isMarked(cxt, 'noFiles')}))`;
      return nullable ? _`!${fits} && ${cxt.data} !== null` : _`!${fits}`;
    },
    (cxt) =>
      _`{type: "string", nullable: ${cxt.schema.nullable}, file: ${isMarked(cxt, 'noFiles')}}`,
  ),
  {
    ...keyword(
      'solid',
      (cxt) => _`${cxt.data} instanceof ${constant(cxt, Binary)}`,
      (cxt) => _`{type: ${constant(cxt, cxt.schema)}}`,
    ),
    type: 'object',
    before: 'maxProperties',
  },
  length(
    'minLength',
    (size, limit) => _`${size} < ${limit}`,
    (limit) => 2 * limit,
  ),
  length(
    'maxLength',
    (size, limit) => _`${size} > ${limit}`,
    (limit) => limit,
  ),
  keyword(
    'uniqueItems',
    (cxt) =>
      _`Array.isArray(${cxt.data}) && !${constant(cxt, allDifferent)}(${cxt.data})`,
  ),
  keyword(
    'refused',
    () => _`true`,
    (cxt) => constant(cxt, cxt.schema),
  ),
  {
    keyword: 'endOfFaults',
    post: true,
    code(cxt) {
      const { gen, it } = cxt;
      if (!it.allErrors) return;
      const inside = it.compositeRule
        ? _`true`
        : _`${constant(cxt, work)}.pass.apart > 0`;
      gen.if(_`errors > ${MAX_FAULTS}`, () =>
        gen.throw(_`${inside} ? ${constant(cxt, INCOMPLETE)} : vErrors`),
      );
    },
  },
];

import { _, type Code, type CodeKeywordDefinition, type KeywordCxt, type KeywordErrorDefinition } from 'ajv';
import { Binary, isContent, sizeOf } from '../binary.ts';
import { type Limit, limitOf } from '../fault.ts';
import { MAX_FAULTS } from '../faults.ts';
import { multipleOf, RANGES } from '../numbers.ts';
import { compilePattern } from '../patterns/pattern.ts';
import { noFiles, unlikeIntegers } from '../value-marks.ts';
import { INCOMPLETE, memory } from './memory.ts';
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

type Numeric = number | bigint;

const isNumeric = (data: Code): Code => _`(typeof ${data} == "number" || typeof ${data} == "bigint")`;

/** Sentences are built from the parameters on demand. */
const paramsOf = (params: NonNullable<KeywordErrorDefinition['params']>): KeywordErrorDefinition => ({
  message: '',
  params,
});

/** JavaScript compares numbers and bigints exactly. */
function limit(keyword: string, outside: (data: Code, limit: Code) => Code): CodeKeywordDefinition {
  return {
    keyword,
    code(cxt) {
      cxt.fail(_`${isNumeric(cxt.data)} && ${outside(cxt.data, constant(cxt, cxt.schema))}`);
    },
    error: paramsOf(({ schema }) => _`{limit: ${limitOf(schema)}}`),
  };
}

/** In characters of a string, or bytes of a Binary. */
function size(keyword: string, outside: (size: Code, limit: Code) => Code): CodeKeywordDefinition {
  return {
    keyword,
    code(cxt) {
      cxt.fail(outside(_`${constant(cxt, sizeOf)}(${cxt.data})`, _`${cxt.schema as number}`));
    },
    error: paramsOf(({ schema, data }) => _`{limit: ${schema}, bytes: typeof ${data} != "string"}`),
  };
}

/** In place of ajv's: most strings need no count of their characters, which are one or two code units each. */
function length(keyword: 'minLength' | 'maxLength'): CodeKeywordDefinition {
  return {
    keyword,
    type: 'string',
    before: 'pattern',
    code(cxt) {
      const { data, schema } = cxt;
      const characters = _`${constant(cxt, sizeOf)}(${data})`;
      if (keyword === 'minLength') cxt.fail(_`${data}.length < ${2 * schema} && ${characters} < ${schema}`);
      else cxt.fail(_`${data}.length > ${schema} && ${characters} > ${schema}`);
    },
    error: paramsOf(({ schema }) => _`{limit: ${schema}}`),
  };
}

function listed(keyword: string): CodeKeywordDefinition {
  return {
    keyword,
    code(cxt) {
      const { values, composite } = cxt.schema as Allowed;
      const value = composite ? _`${constant(cxt, canonical)}(${cxt.data})` : cxt.data;
      cxt.fail(_`!${constant(cxt, values)}.has(${value})`);
    },
    error: paramsOf((cxt) => _`{text: ${cxt.schema.text}, values: ${constant(cxt, cxt.schema)}.limit}`),
  };
}

export const constant = (cxt: Pick<KeywordCxt, 'gen'>, ref: unknown): Code => cxt.gen.scopeValue('keyword', { ref });

function isMarked(
  cxt: Pick<KeywordCxt, 'gen'> & { it: Pick<KeywordCxt['it'], 'parentData' | 'parentDataProperty'> },
  all: typeof noFiles,
): Code {
  const { parentData, parentDataProperty } = cxt.it;
  const marks = constant(cxt, all);
  return _`${marks}.any && ${marks}.has(${parentData}, ${parentDataProperty})`;
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
  return plain ? _`(${whole} && !(${isMarked(cxt, unlikeIntegers)}))` : whole;
}

/** Keywords that ajv lacks. Only the translation from OpenAPI writes them; no document can. */
export const KEYWORDS: readonly CodeKeywordDefinition[] = [
  {
    keyword: 'kinds',
    code(cxt) {
      const { types, plain } = cxt.schema as Types;
      const tests = types.map((type) => testOf(type, cxt, plain));
      cxt.fail(_`!(${tests.reduce((all, test) => _`${all} || ${test}`)})`);
    },
    error: paramsOf((cxt) => {
      const { types } = cxt.schema as Types;
      return _`{type: ${constant(cxt, types.length === 1 ? types[0] : types)}}`;
    }),
  },
  limit('atLeast', (data, limit) => _`${data} < ${limit}`),
  limit('atMost', (data, limit) => _`${data} > ${limit}`),
  limit('moreThan', (data, limit) => _`${data} <= ${limit}`),
  limit('lessThan', (data, limit) => _`${data} >= ${limit}`),
  {
    keyword: 'width',
    code(cxt) {
      const { integer, least, most } = RANGES[cxt.schema as string]!;
      const { data } = cxt;
      const outside = _`${data} < ${constant(cxt, least)} || ${data} > ${constant(cxt, most)}`;
      const broken = integer
        ? _`(${outside} || typeof ${data} == "number" && !Number.isInteger(${data}))`
        : _`(${outside})`;
      cxt.fail(_`${isNumeric(data)} && ${broken}`);
    },
    error: paramsOf(({ schema }) => _`{format: ${schema}}`),
  },
  {
    keyword: 'multiple',
    code(cxt) {
      cxt.fail(_`${isNumeric(cxt.data)} && !${constant(cxt, multipleOf(cxt.schema as Numeric))}(${cxt.data})`);
    },
    error: paramsOf(({ schema }) => _`{limit: ${limitOf(schema)}}`),
  },
  listed('among'),
  listed('exactly'),
  {
    keyword: 'matches',
    code(cxt) {
      const { source, native } = cxt.schema as Matched;
      const pattern = native ?? compilePattern(source);
      cxt.fail(_`typeof ${cxt.data} == "string" && !${constant(cxt, pattern)}.test(${cxt.data})`);
    },
    error: paramsOf(({ schema }) => _`{pattern: ${schema.source}}`),
  },
  {
    keyword: 'content',
    code(cxt) {
      const { nullable } = cxt.schema as { nullable: boolean };
      const fits = _`(${constant(cxt, isContent)}(${cxt.data}) && !(${isMarked(cxt, noFiles)}))`;
      cxt.fail(nullable ? _`!${fits} && ${cxt.data} !== null` : _`!${fits}`);
    },
    error: paramsOf((cxt) => _`{type: "string", nullable: ${cxt.schema.nullable}, file: ${isMarked(cxt, noFiles)}}`),
  },
  {
    keyword: 'solid',
    type: 'object',
    before: 'maxProperties',
    code: (cxt) => cxt.fail(_`${cxt.data} instanceof ${constant(cxt, Binary)}`),
    error: paramsOf((cxt) => _`{type: ${constant(cxt, cxt.schema)}}`),
  },
  length('minLength'),
  length('maxLength'),
  size('shortest', (size, limit) => _`${size} < ${limit}`),
  size('longest', (size, limit) => _`${size} > ${limit}`),
  {
    keyword: 'different',
    code: (cxt) => cxt.fail(_`Array.isArray(${cxt.data}) && !${constant(cxt, allDifferent)}(${cxt.data})`),
  },
  { keyword: 'refused', code: (cxt) => cxt.fail(_`true`), error: paramsOf(({ schema }) => _`{why: ${schema}}`) },
  {
    keyword: 'endOfFaults',
    post: true,
    code(cxt) {
      const { gen, it } = cxt;
      if (!it.allErrors) return;
      const inside = it.compositeRule ? _`true` : _`${constant(cxt, memory)}.apart > 0`;
      gen.if(_`errors > ${MAX_FAULTS}`, () => gen.throw(_`${inside} ? ${constant(cxt, INCOMPLETE)} : vErrors`));
    },
  },
];

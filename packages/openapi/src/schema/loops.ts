import { _, type Code, type ErrorObject, type KeywordCxt, Name } from 'ajv';
import { compilePattern } from '../patterns/pattern.ts';
import { partsIn } from './cut.ts';
import type { Translated } from './definitions.ts';
import { constant } from './keywords.ts';
import { joined } from './memory.ts';
import { finish, namesIn, PAUSE, WORTH, work } from './pauses.ts';

interface State {
  readonly next: number;
  readonly errors: readonly ErrorObject[];
}

type Errors = ErrorObject[] | null;

/**
 * In place of ajv's code for keywords that apply a schema to any number of values: a check can
 * pause between them.
 */
export const LOOPS: Readonly<Record<string, (cxt: KeywordCxt) => void>> = {
  items(cxt) {
    const { schema, parentSchema, data } = cxt;
    const { prefixItems } = parentSchema;
    if (isEmpty(schema)) return;
    const first = Array.isArray(prefixItems) ? prefixItems.length : 0;
    const weight = weightOf(schema);
    looping(cxt, { first, end: _`${data}.length`, weight }, (i, valid) =>
      cxt.subschema(
        { keyword: 'items', dataProp: i, dataPropType: NUMBER },
        valid,
      ),
    );
  },
  additionalProperties(cxt) {
    const { gen, schema, parentSchema } = cxt;
    if (isEmpty(schema)) return;
    const names = Object.keys(parentSchema.properties ?? {});
    const patterns = Object.keys(parentSchema.patternProperties ?? {});
    const weight = weightOf(schema) + PATTERN * patterns.length;
    overNames(cxt, weight, (key, valid) => {
      gen.if(isAdditional(cxt, key, names, patterns), () =>
        cxt.subschema(
          {
            keyword: 'additionalProperties',
            dataProp: key,
            dataPropType: STRING,
          },
          valid,
        ),
      );
    });
  },
  patternProperties(cxt) {
    const { gen, schema } = cxt;
    const entries = Object.entries(schema as Record<string, Translated>).filter(
      ([, part]) => !isEmpty(part),
    );
    for (const [source, part] of entries) {
      overNames(cxt, weightOf(part) + PATTERN, (key, valid) =>
        gen.if(isMatch(cxt, source, key), () =>
          cxt.subschema(
            {
              keyword: 'patternProperties',
              schemaProp: source,
              dataProp: key,
              dataPropType: STRING,
            },
            valid,
          ),
        ),
      );
    }
  },
  minProperties: (cxt) => cxt.fail(_`${countOf(cxt)} < ${cxt.schema}`),
  maxProperties: (cxt) => cxt.fail(_`${countOf(cxt)} > ${cxt.schema}`),
};

/** `Type` of ajv. */
const [NUMBER, STRING] = [0, 1];

/** The work to test a name. */
const PATTERN = 16;

const isEmpty = ({ endOfFaults, ...schema }: Translated) =>
  Object.keys(schema).length === 0;

const countOf = (cxt: KeywordCxt) =>
  _`${constant(cxt, namesIn)}(${cxt.data}).length`;

const isMatch = (cxt: KeywordCxt, source: string, key: Name) =>
  _`${constant(cxt, compilePattern(source))}.test(${key})`;

function isAdditional(
  cxt: KeywordCxt,
  key: Name,
  names: readonly string[],
  patterns: readonly string[],
): Code {
  const known =
    names.length === 0 ? [] : [_`${constant(cxt, new Set(names))}.has(${key})`];
  const all = [
    ...known,
    ...patterns.map((source) => isMatch(cxt, source, key)),
  ];
  return all.reduce((sum, one) => _`${sum} && !${one}`, _`true`);
}

function overNames(
  cxt: KeywordCxt,
  weight: number,
  body: (key: Name, valid: Name) => void,
): void {
  const { gen } = cxt;
  const names = gen.const('names', _`${constant(cxt, namesIn)}(${cxt.data})`);
  looping(cxt, { first: 0, end: _`${names}.length`, weight }, (i, valid) => {
    // Ajv would leave out a constant whose only use it moves.
    const key = gen.name('key');
    gen.code(_`const ${key} = ${names}[${i}]`);
    gen.var(valid, true);
    body(key, valid);
  });
}

interface Rounds {
  readonly first: number;
  readonly end: Code;
  readonly weight: number;
}

const [ERRORS, ALL_ERRORS] = [new Name('errors'), new Name('vErrors')];

/** Continues behind the last entry that is over, with the errors so far. */
function looping(
  cxt: KeywordCxt,
  { first, end, weight }: Rounds,
  body: (i: Name, valid: Name) => void,
): void {
  const { gen, data, it } = cxt;
  const [progress, site] = [constant(cxt, work), constant(cxt, {})];
  const run = gen.const('run', _`${progress}.run`);
  const left = gen.const('left', _`${progress}.left`);
  const size = gen.const('size', _`${run} === null ? 0 : ${run}.size`);
  const before = gen.const('before', ERRORS);
  const known = gen.let('known', ERRORS);
  const next = gen.let('next', first);
  const all = gen.let('all', true);
  gen.if(_`${run} !== null && ${run}.resumed`, () => {
    const state = gen.const('state', _`${run}.find(${site}, ${data})`);
    gen.if(_`${state} !== undefined`, () => {
      gen.assign(next, _`${state}.next`);
      gen.assign(all, _`${state}.errors.length === 0`);
      gen.assign(
        ALL_ERRORS,
        _`${constant(cxt, joined)}(${ALL_ERRORS}, ${state}.errors)`,
      );
      gen.assign(ERRORS, _`${before} + ${state}.errors.length`);
      gen.assign(known, ERRORS);
    });
  });
  const length = gen.const('length', end);
  const state = _`${constant(cxt, stateOf)}(${next}, ${ALL_ERRORS}, ${before}, ${known})`;
  gen.try(
    () =>
      gen.forRange('i', next, length, (i) => {
        const valid = gen.name('valid');
        body(i, valid);
        gen.assign(next, _`${i} + 1`);
        gen.assign(known, ERRORS);
        gen.if(_`!${valid}`, () => {
          gen.assign(all, false);
          if (it.allErrors) return;
          gen.assign(next, length);
          gen.break();
        });
        gen.code(_`${progress}.left -= ${weight}`);
        gen.if(_`${run} !== null`, () => {
          gen.if(_`${run}.size > ${size}`, () =>
            gen.code(_`${run}.release(${size})`),
          );
          gen.if(_`${progress}.left < 0 && ${next} < ${length}`, () =>
            gen.code(_`${run}.pause(${site}, ${data})`),
          );
        });
      }),
    (thrown) => {
      gen.if(_`${thrown} === ${constant(cxt, PAUSE)}`, () =>
        gen.code(_`${run}.keep(${site}, ${data}, ${state})`),
      );
      gen.throw(thrown);
    },
  );
  gen.if(_`${run} !== null && ${left} - ${progress}.left > ${WORTH}`, () =>
    gen.code(
      _`${constant(cxt, finish)}(${run}, ${left}, ${site}, ${data}, ${state})`,
    ),
  );
  cxt.ok(all);
}

/** `errors` from `before` to `end` are those of the loop. */
function stateOf(
  next: number,
  errors: Errors,
  before: number,
  end: number,
): State {
  return { next, errors: errors?.slice(before, end) ?? [] };
}

/** Units of work, see `STEP`: of the keywords that apply to a value itself. */
export function weightOf(schema: Translated): number {
  const { required, anyOfMany, oneOfMany, cases } = schema;
  let weight = 4 + Object.keys(schema).length;
  if (Array.isArray(required)) weight += required.length;
  if (anyOfMany ?? oneOfMany ?? cases) weight += MANY;
  for (const [keyword, part] of partsIn(schema)) {
    // An alternative that does not match has errors.
    if (Array.isArray(schema[keyword])) weight += BRANCH;
    if (!(keyword in LOOPS)) weight += weightOf(part);
  }
  return weight;
}

const BRANCH = 4;
const MANY = 20;

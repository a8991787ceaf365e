import {
  _,
  type Code,
  type CodeKeywordDefinition,
  type ErrorObject,
  type KeywordCxt,
  Name,
  type SchemaCxt,
  str,
} from 'ajv';
import { isObject } from '../document/source.ts';
import { MAX_FAULTS } from '../faults.ts';
import { escapeToken } from '../names.ts';
import type { Translated } from './definitions.ts';
import { Evaluations, keysOf } from './evaluated.ts';
import { constant } from './keywords.ts';
import { added, apart } from './memory.ts';
import { placeOf, type Unit, type Units } from './unit.ts';

type Judge = (value: unknown, path: string) => readonly ErrorObject[] | null;

export interface ContainedCount {
  readonly schema: Translated;
  readonly least: number | null;
  readonly most: number | null;
}

/** A list hides a schema from ajv, which walks through all objects in a schema: each level would double the work. */
export type Part = readonly [Translated];

export type Left = readonly [{ readonly of: Translated; readonly schema: Translated }];

export function applied(units: Units): readonly CodeKeywordDefinition[] {
  const evaluations = new Evaluations(units);
  return [
    {
      keyword: 'refers',
      post: true,
      code(cxt) {
        const { data, it } = cxt;
        const { schema } = cxt as { schema: string | Part };
        const unit = units.unit(typeof schema === 'string' ? { refers: schema } : schema[0]);
        const validate = _`${constant(cxt, unit)}.validate`;
        const place = _`{instancePath: ${pathOf(cxt)}, parentData: ${it.parentData}, parentDataProperty: ${it.parentDataProperty}}`;
        const call = _`${validate}(${data}, ${place})`;
        const fits = it.opts.allErrors && it.compositeRule ? _`${constant(cxt, apart)}(() => ${call})` : call;
        failUnless(cxt, fits, _`${validate}.errors`);
      },
    },
    startOfFaults,
    judged('names', (schema: Translated) => judgeNames(units.unit(schema))),
    judged('holds', (held: ContainedCount) => judgeHeld(held, units.unit(held.schema))),
    judged('leftMembers', ([left]: Left) => judgeLeft(left, units, evaluations, 'object')),
    judged('leftEntries', ([left]: Left) => judgeLeft(left, units, evaluations, 'array')),
  ];
}

const instancePath = new Name('instancePath');

const pathOf = ({ it }: KeywordCxt): Code => str`${instancePath}${it.errorPath}`;

function failUnless(cxt: KeywordCxt, fits: Code, errors: Code): void {
  const { gen } = cxt;
  cxt.result(fits, undefined, () => {
    gen.code(_`vErrors = ${constant(cxt, added)}(vErrors, ${errors})`);
    gen.code(_`errors = vErrors.length`);
  });
}

/** Mainly errors of other alternatives. */
const faultsBefore = new WeakMap<SchemaCxt, Name>();

const startOfFaults: CodeKeywordDefinition = {
  keyword: 'startOfFaults',
  before: 'not',
  code({ gen, it }) {
    if (it.allErrors) faultsBefore.set(it, gen.const('before', _`errors`));
  },
};

function judged<T>(keyword: string, create: (schema: T) => Judge): CodeKeywordDefinition {
  return {
    keyword,
    post: true,
    code(cxt) {
      const { data, gen, it } = cxt;
      const judge = create(cxt.schema as T);
      const isApart = it.compositeRule || keyword === 'holds';
      const called: Judge = isApart ? (value, path) => apart(() => judge(value, path)) : judge;
      // Only reported if the schema has no other fault: a value that does not match is not evaluated either.
      const before = keyword.startsWith('left') ? faultsBefore.get(it) : undefined;
      const skips = before ? _`errors > ${before} ? null : ` : _``;
      const found = gen.const('found', _`${skips}${constant(cxt, called)}(${data}, ${pathOf(cxt)})`);
      failUnless(cxt, _`${found} === null`, found);
    },
  };
}

const error = (keyword: string, path: string, params: ErrorObject['params']): ErrorObject => ({
  keyword,
  instancePath: path,
  schemaPath: '',
  params,
});

function judgeNames(unit: Unit): Judge {
  return (value, path) => {
    if (!isObject(value)) return null;
    const bad = Object.keys(value).filter((name) => !unit.validate(name));
    if (bad.length === 0) return null;
    return bad.slice(0, MAX_FAULTS + 1).map((name) => error('propertyNames', `${path}/${escapeToken(name)}`, {}));
  };
}

function judgeHeld({ least, most }: ContainedCount, unit: Unit): Judge {
  const enough = most === null ? (least ?? 1) : most + 1;
  return (value, path) => {
    if (!Array.isArray(value)) return null;
    let count = 0;
    for (let i = 0; i < value.length && count < enough; i++)
      if (unit.validate(value[i], placeOf(value, i, path))) count++;
    if (least === null && count === 0) return [error('contains', path, {})];
    if (least !== null && count < least) return [error('minContains', path, { limit: least })];
    return most !== null && count > most ? [error('maxContains', path, { limit: most })] : null;
  };
}

function judgeLeft({ of, schema }: Left[0], units: Units, evaluations: Evaluations, kind: 'object' | 'array'): Judge {
  const evaluate = evaluations.of(of);
  const unit = units.unit(schema);
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) !== (kind === 'array')) return null;
    const evaluated = new Set<string | number>();
    apart(() => evaluate(value, { path, keys: evaluated }));
    const errors: ErrorObject[] = [];
    for (const key of keysOf(value)) {
      if (evaluated.has(key)) continue;
      if (unit.validate((value as Record<string, unknown>)[key], placeOf(value, key, path))) continue;
      errors.push(...(unit.validate.errors ?? []));
      if (errors.length > MAX_FAULTS) break;
    }
    return errors.length === 0 ? null : errors;
  };
}

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
import { MAX_FAULTS, NONE } from '../faults.ts';
import { escapeToken } from '../names.ts';
import type { ContainedCount, Left, Part, Translated } from './definitions.ts';
import { createEvaluations, type Evaluate, evaluatedIn } from './evaluated.ts';
import { constant } from './keywords.ts';
import { added, apart } from './memory.ts';
import {
  judge,
  loop,
  namesIn,
  placeOf,
  type Unit,
  type Units,
} from './pauses.ts';

type JudgeAll = (value: unknown, path: string) => readonly ErrorObject[] | null;

export function applied(units: Units): readonly CodeKeywordDefinition[] {
  const evaluationOf = createEvaluations(units);
  return [
    {
      keyword: 'refers',
      post: true,
      code(cxt) {
        const { data, it } = cxt;
        const { schema } = cxt as { schema: string | Part };
        const unit = units.unit(
          typeof schema === 'string' ? { refers: schema } : schema[0],
        );
        const validate = _`${constant(cxt, unit)}.validate`;
        const call = _`${constant(cxt, judge)}(${constant(cxt, unit)}, ${data}, ${placeIn(cxt)})`;
        const fits =
          it.opts.allErrors && it.compositeRule
            ? _`${constant(cxt, apart)}(() => ${call})`
            : call;
        failUnless(cxt, fits, _`${validate}.errors`);
      },
    },
    startOfFaults,
    judged('propertyNames', (schema: Translated) =>
      judgeNames(units.unit(schema)),
    ),
    judged('contains', (held: ContainedCount) =>
      judgeHeld(held, units.unit(held.schema)),
    ),
    judged('unevaluatedProperties', ([{ of, schema }]: Left) =>
      judgeLeft(evaluationOf(of), units.unit(schema), 'object'),
    ),
    judged('unevaluatedItems', ([{ of, schema }]: Left) =>
      judgeLeft(evaluationOf(of), units.unit(schema), 'array'),
    ),
  ];
}

const instancePath = new Name('instancePath');

const pathOf = ({ it }: KeywordCxt) => str`${instancePath}${it.errorPath}`;

export const placeIn = (cxt: KeywordCxt): Code =>
  _`{instancePath: ${pathOf(cxt)}, parentData: ${cxt.it.parentData}, parentDataProperty: ${cxt.it.parentDataProperty}}`;

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

function judged<T>(
  keyword: string,
  create: (schema: T) => JudgeAll,
): CodeKeywordDefinition {
  return {
    keyword,
    post: true,
    code(cxt) {
      const { data, gen, it } = cxt;
      const judge = create(cxt.schema as T);
      const isApart = it.compositeRule || keyword === 'contains';
      const called: JudgeAll = isApart
        ? (value, path) => apart(() => judge(value, path))
        : judge;
      // Only reported if the schema has no other fault: a value that does not match is not
      // evaluated either.
      const before = keyword.startsWith('unevaluated')
        ? faultsBefore.get(it)
        : undefined;
      const skips = before ? _`errors > ${before} ? null : ` : _``;
      const found = gen.const(
        'found',
        _`${skips}${constant(cxt, called)}(${data}, ${pathOf(cxt)})`,
      );
      failUnless(cxt, _`${found} === null`, found);
    },
  };
}

export const error = (
  keyword: string,
  path: string,
  params: ErrorObject['params'],
): ErrorObject => ({
  keyword,
  instancePath: path,
  schemaPath: '',
  params,
});

/** Of many members or entries; `null` without any. */
function errorsIn(
  site: object,
  value: object,
  count: number,
  errorsAt: (i: number) => readonly ErrorObject[],
): readonly ErrorObject[] | null {
  const { errors } = loop(
    site,
    value,
    { next: 0, errors: [] as ErrorObject[] },
    count,
    (i, { errors }) => {
      errors.push(...errorsAt(i));
      return errors.length <= MAX_FAULTS;
    },
  );
  return errors.length === 0 ? null : errors;
}

function judgeNames(unit: Unit): JudgeAll {
  const site = {};
  return (value, path) => {
    if (!isObject(value)) return null;
    const names = namesIn(value);
    return errorsIn(site, value, names.length, (i) =>
      judge(unit, names[i]!)
        ? NONE
        : [error('propertyNames', `${path}/${escapeToken(names[i]!)}`, {})],
    );
  };
}

function judgeHeld({ least, most }: ContainedCount, unit: Unit): JudgeAll {
  const enough = most === null ? (least ?? 1) : most + 1;
  const site = {};
  return (value, path) => {
    if (!Array.isArray(value)) return null;
    const { count } = loop(
      site,
      value,
      { next: 0, count: 0 },
      enough === 0 ? 0 : value.length,
      (i, state) => {
        if (judge(unit, value[i], placeOf(value, i, path))) state.count++;
        return state.count < enough;
      },
    );
    if (least === null && count === 0) return [error('contains', path, {})];
    if (least !== null && count < least)
      return [error('minContains', path, { limit: least })];
    return most !== null && count > most
      ? [error('maxContains', path, { limit: most })]
      : null;
  };
}

function judgeLeft(
  evaluate: Evaluate,
  unit: Unit,
  kind: 'object' | 'array',
): JudgeAll {
  const site = {};
  return (value, path) => {
    if (
      typeof value !== 'object' ||
      value === null ||
      Array.isArray(value) !== (kind === 'array')
    )
      return null;
    const evaluated = evaluatedIn(evaluate, value);
    apart(() => evaluate(value, { path, ...evaluated }));
    const { names, keys } = evaluated;
    return errorsIn(site, value, keys.length, (i) => {
      const key = names?.[i] ?? i;
      const member = (value as Record<string, unknown>)[key];
      if (keys[i] === 1 || judge(unit, member, placeOf(value, key, path)))
        return NONE;
      return unit.validate.errors ?? NONE;
    });
  };
}

import {
  _,
  type CodeKeywordDefinition,
  type ErrorObject,
  type KeywordCxt,
} from 'ajv';
import { error, placeIn } from './applied.ts';
import { mapParts } from './cut.ts';
import {
  type Choice,
  chooser,
  type Part,
  type Translated,
} from './definitions.ts';
import { type Allowed, constant } from './keywords.ts';
import { apart, joined } from './memory.ts';
import { judge, type Place, type Units } from './pauses.ts';

type Union = 'anyOf' | 'oneOf';

type Values = ReadonlySet<unknown>;

interface Many {
  readonly groups: readonly Part[];
  readonly choice: Choice | null;
}

/** V8 does not optimize a function of hundreds of alternatives. */
const GROUP = 40;

/** Fewer are compared as fast one after the other. */
const FEW = 4;

/** Divides long lists of alternatives, and finds out which property decides. */
export function arranged(
  schema: Translated,
  find: (name: string) => Translated,
): Translated {
  const { isGroup, ...own } = schema;
  const result = mapParts(own, (part) => arranged(part, find));
  // To divide a group would make the same group again.
  if (isGroup === true) return result;
  for (const union of ['anyOf', 'oneOf'] as const) {
    const { [union]: parts, ...others } = result;
    if (!Array.isArray(parts) || parts.length <= FEW) continue;
    const choice = choiceIn(parts, find);
    if (choice === null && parts.length <= GROUP) continue;
    for (const key of Object.keys(result)) delete result[key];
    Object.assign(result, others, {
      [`${union}Many`]: [{ groups: groupsOf(union, parts), choice }],
    });
  }
  if (Array.isArray(result.allOf) && result.allOf.length > GROUP)
    result.allOf = groupsOf('allOf', result.allOf).map((part) => ({
      refers: part,
    }));
  return result;
}

function groupsOf(
  keyword: Union | 'allOf',
  parts: readonly Translated[],
): Part[] {
  const groups: Part[] = [];
  for (let i = 0; i < parts.length; i += GROUP)
    groups.push([{ [keyword]: parts.slice(i, i + GROUP), isGroup: true }]);
  return groups;
}

function choiceOf(
  property: string,
  parts: readonly (readonly [values: Values | undefined, part: Translated])[],
): Choice | null {
  const byValue = new Map<unknown, Part>();
  let count = 0;
  for (const [values, part] of parts) {
    for (const value of values ?? []) byValue.set(value, [part]);
    count += values?.size ?? Number.NaN;
  }
  return byValue.size === count ? { property, byValue } : null;
}

function choiceIn(
  parts: readonly Translated[],
  find: (name: string) => Translated,
): Choice | null {
  const all = parts.map((part) => [constantsOf(part, find), part] as const);
  for (const property of all[0]![0].keys()) {
    const choice = choiceOf(
      property,
      all.map(([constants, part]) => [constants.get(property), part]),
    );
    if (choice) return choice;
  }
  return null;
}

/**
 * Of the members that an object must have to match; empty if other values than objects may match.
 */
function constantsOf(
  schema: Translated,
  find: (name: string) => Translated,
): ReadonlyMap<string, Values> {
  const whole = [...sameValue(schema, find)];
  const constants = new Map<string, Values>();
  if (!whole.some(({ type }) => type === 'object')) return constants;
  const required = new Set(
    whole.flatMap(({ required }) => (Array.isArray(required) ? required : [])),
  );
  for (const { properties } of whole) {
    for (const [name, property] of Object.entries(
      (properties ?? {}) as Record<string, Translated>,
    )) {
      if (!required.has(name)) continue;
      for (const part of sameValue(property, find)) {
        const { values, composite } = (part.enum ??
          part.const ?? { composite: true }) as Allowed;
        if (!composite && !constants.has(name)) constants.set(name, values);
      }
    }
  }
  return constants;
}

const MOST_PARTS = 50;

/** The schema, and what it requires of the same value. */
function sameValue(
  schema: Translated,
  find: (name: string) => Translated,
): ReadonlySet<Translated> {
  const parts = new Set([schema]);
  for (const { refers, allOf } of parts) {
    if (parts.size > MOST_PARTS) break;
    if (typeof refers === 'string') parts.add(find(refers));
    for (const part of (allOf ?? []) as Translated[]) parts.add(part);
  }
  return parts;
}

/**
 * In place of ajv's code for `anyOf`: a check that only looks for the first error needs none of the
 * alternatives'.
 */
export function anyOf(cxt: KeywordCxt): void {
  const { gen, schema, it } = cxt;
  const valid = gen.let('valid', false);
  const fits = gen.name('fits');
  const errors = it.allErrors ? {} : { createErrors: false };
  gen.block(() => {
    for (const i of (schema as unknown[]).keys()) {
      cxt.subschema(
        { keyword: 'anyOf', schemaProp: i, compositeRule: true, ...errors },
        fits,
      );
      gen.assign(valid, fits);
      gen.if(_`!${valid}`);
    }
  });
  cxt.result(
    valid,
    () => cxt.reset(),
    () => cxt.error(true),
  );
}

type Judge = (value: unknown, place: Place) => readonly ErrorObject[] | null;

export const unions = (units: Units): readonly CodeKeywordDefinition[] => [
  judging('anyOfMany', 'oneOf', ([many]: [Many], cxt) =>
    judgeUnion('anyOf', many, units, cxt),
  ),
  judging('oneOfMany', 'allOf', ([many]: [Many], cxt) =>
    judgeUnion('oneOf', many, units, cxt),
  ),
  judging('cases', 'if', ([choice]: [Choice], cxt) => {
    const chosen = chooser(choice, units.unit);
    const isApart =
      cxt.it.compositeRule === true && cxt.it.opts.allErrors === true;
    return (value, place) => {
      const unit = chosen(value);
      if (
        unit === null ||
        (isApart
          ? apart(() => judge(unit, value, place))
          : judge(unit, value, place))
      )
        return null;
      return unit.validate.errors!;
    };
  }),
];

function judging<T>(
  keyword: string,
  before: string,
  create: (schema: T, cxt: KeywordCxt) => Judge,
) {
  return {
    keyword,
    before,
    code(cxt: KeywordCxt) {
      const { data, gen } = cxt;
      const found = gen.const(
        'found',
        _`${constant(cxt, create(cxt.schema as T, cxt))}(${data}, ${placeIn(cxt)})`,
      );
      cxt.result(_`${found} === null`, undefined, () => {
        gen.code(_`vErrors = ${constant(cxt, joined)}(vErrors, ${found})`);
        gen.code(_`errors = vErrors.length`);
      });
    },
  } satisfies CodeKeywordDefinition;
}

function judgeUnion(
  union: Union,
  { groups, choice }: Many,
  units: Units,
  { it }: KeywordCxt,
): Judge {
  const thorough = it.opts.allErrors === true;
  const chosen = choice === null ? () => null : chooser(choice, units.unit);
  const own = (path: string, several: boolean) =>
    error(union, path, { passingSchemas: several ? [] : null });
  const all =
    choice === null || thorough ? groups.map(([part]) => units.unit(part)) : [];
  return (value, place) => {
    const path = place.instancePath!;
    const unit = chosen(value);
    if (unit !== null) {
      if (apart(() => judge(unit, value, place))) return null;
      return [...unit.validate.errors!, own(path, false)];
    }
    const failed: (readonly ErrorObject[])[] = [];
    let matching = 0;
    for (const group of all) {
      if (judge(group, value, place)) matching++;
      else {
        const found = group.validate.errors!;
        if (found.at(-1)!.params.passingSchemas) matching = 2;
        if (thorough) failed.push(found);
      }
      if (matching > (union === 'anyOf' ? 0 : 1)) break;
    }
    if (matching === 1) return null;
    if (matching > 1) return [own(path, true)];
    return [...failed.flatMap((found) => found.slice(0, -1)), own(path, false)];
  };
}

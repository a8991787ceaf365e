import type { Document } from '../document/document.ts';
import type { Dynamics } from '../document/resources.ts';
import { isObject, type Json, objectsIn } from '../document/source.ts';
import type { Bar } from '../faults.ts';
import { assertionsOf, patternAt } from './assertions.ts';
import {
  type ContainedCount,
  createDefinitions,
  type Definitions,
  defined,
  type Translated,
} from './definitions.ts';
import { barredBy, type Direction, refusalOf } from './directions.ts';
import type { Refused } from './keywords.ts';
import { choiceIn, choose, isAlternativeOf } from './polymorphism.ts';

type Scope = ReadonlyMap<string, string>;

interface Setting {
  readonly direction: Direction;
  /** Barred by the same `allOf`, so `required` must not require them. */
  readonly barred: ReadonlySet<string>;
  /** Whether one of the schema's own alternatives applies it, which would lead back to itself. */
  readonly asBase: boolean;
  /** The definition that applies this schema to the same value. */
  readonly owner: string | null;
  readonly scope: Scope;
}

type Outer = Pick<Setting, 'direction' | 'scope'>;

type Dependents = Readonly<Record<string, readonly string[]>>;

const NONE: ReadonlySet<string> = new Set();

/** A reference becomes a definition, translated once per setting. */
export function createTranslator(document: Document, names?: Definitions) {
  const { dialect } = document;
  const definitions = createDefinitions(names);

  function translate(schema: Json, direction: Direction): Translated {
    return translateOther(schema, {
      direction,
      scope: firstScope(document),
    });
  }

  /** For schemas that apply themselves to the same value. */
  function reportCircles(): void {
    for (const node of definitions.circles())
      document.findings.problem(
        node,
        null,
        'the schema refers to itself without going deeper',
      );
  }

  function translateSchema(schema: Json, around: Setting): Translated {
    const setting = {
      ...around,
      scope: scopeIn(document, schema, around.scope),
    };
    if (dialect.isReference(schema))
      return translateReference(schema.$ref as string, setting);
    const combines =
      Array.isArray(schema.allOf) || document.beside(schema) !== null;
    const barred = combines
      ? setting.barred.union(barredBy(document, schema, setting.direction))
      : setting.barred;
    const inner: Setting = { ...setting, barred, asBase: false };
    const isBarred = (alternative: Json, property: string) =>
      barred.has(property) ||
      barredBy(document, alternative, setting.direction).has(property);
    const choice = setting.asBase
      ? null
      : choiceIn(document, schema, isBarred, (part) =>
          translateSchema(part, inner),
        );
    const parts = [
      ...(translateEach(schema.allOf, inner) ?? []),
      ...besideOf(schema, inner),
    ];
    if (choice) parts.push(choice.schema);
    const alternatives = (keyword: 'oneOf' | 'anyOf') =>
      setting.asBase || keyword === choice?.keyword
        ? undefined
        : translateEach(schema[keyword], inner);
    const asserted = assertionsOf(document, schema);
    const translated = defined({
      ...asserted,
      ...membersOf(
        schema,
        asserted.dependentRequired as Dependents | undefined,
        barred,
        setting,
      ),
      items: translateMany(schema.items, 'items', setting),
      allOf: parts.length > 0 ? parts : undefined,
      oneOf: alternatives('oneOf'),
      anyOf: alternatives('anyOf'),
      not: isObject(schema.not)
        ? translateSchema(schema.not, inner)
        : undefined,
      ...applicatorsOf(schema, inner),
    });
    return defined({
      ...translated,
      ...unevaluatedOf(schema, translated, setting),
    });
  }

  function applicatorsOf(schema: Json, inner: Setting): Translated {
    const applicators = dialect.applicators(schema);
    const { prefixItems, contains, minContains, maxContains } = applicators;
    const { patternProperties, propertyNames, dependentSchemas } = applicators;
    const count = (value: unknown) =>
      value === undefined ? null : Number(value);
    const same = (part: unknown) =>
      isObject(part) ? translateSchema(part, inner) : {};
    const held = (): ContainedCount => ({
      schema: translateOther(contains, inner),
      least: count(minContains),
      most: count(maxContains),
    });
    return {
      ...(isObject(applicators.if) &&
        choose(
          same(applicators.if),
          same(applicators.then),
          same(applicators.else),
        )),
      prefixItems: Array.isArray(prefixItems)
        ? objectsIn(prefixItems).map((part) => translateOther(part, inner))
        : undefined,
      contains: contains === undefined ? undefined : held(),
      patternProperties: isObject(patternProperties)
        ? patternsOf(patternProperties, inner)
        : undefined,
      propertyNames: isObject(propertyNames)
        ? translateOther(propertyNames, inner)
        : undefined,
      dependentSchemas: isObject(dependentSchemas)
        ? Object.fromEntries(
            Object.entries(dependentSchemas).map(([name, part]) => [
              name,
              same(part),
            ]),
          )
        : undefined,
    };
  }

  function patternsOf(patterns: Json, inner: Setting): Translated {
    const sound = Object.entries(patterns).filter(([source]) =>
      patternAt(patterns, source, source, document),
    );
    return Object.fromEntries(
      sound.map(([source, part]) => [
        source,
        { ...translateOther(part, inner), endOfFaults: true },
      ]),
    );
  }

  /** A check of the remaining members gets everything else in its schema. */
  function unevaluatedOf(
    schema: Json,
    of: Translated,
    setting: Setting,
  ): Translated {
    const { unevaluatedProperties: members, unevaluatedItems: entries } =
      dialect.applicators(schema);
    if ((members ?? entries) === undefined) return {};
    const parts = [...document.combined(schema)];
    const names = parts.flatMap(({ properties }) =>
      document.members(properties).map(([name]) => name),
    );
    const left = (part: unknown, bar: Bar) =>
      part === undefined
        ? undefined
        : [{ of, schema: translateRest(part, bar, setting, names) }];
    return {
      startOfFaults: true,
      unevaluatedProperties: left(members, 'unevaluatedProperties'),
      unevaluatedItems: left(entries, 'unevaluatedItems'),
    };
  }

  function translateEach(
    schemas: unknown,
    setting: Setting,
  ): Translated[] | undefined {
    if (!Array.isArray(schemas)) return undefined;
    return objectsIn(schemas).map((schema) => translateSchema(schema, setting));
  }

  /** A schema for another value than the schema around it. */
  function translateOther(
    schema: unknown,
    { direction, scope }: Outer,
  ): Translated {
    if (!isObject(schema)) return {};
    return translateSchema(schema, {
      direction,
      scope,
      barred: NONE,
      asBase: false,
      owner: null,
    });
  }

  function translateRest(
    schema: unknown,
    bar: Bar,
    outer: Outer,
    names?: readonly string[],
  ): Translated {
    return schema === false
      ? refused(bar, names)
      : translateOther(schema, outer);
  }

  /** The check stops after enough faults. */
  function translateMany(
    schema: unknown,
    bar: Bar,
    outer: Outer,
    names?: readonly string[],
  ): Translated | undefined {
    if (schema === undefined) return undefined;
    const part = translateRest(schema, bar, outer, names);
    // A schema that evaluates all members or entries must be present, even if it does not constrain
    // them.
    const isPresent = Object.keys(part).length > 0 || dialect.identifiers;
    return isPresent ? { ...part, endOfFaults: true } : undefined;
  }

  function besideOf(schema: Json, inner: Setting): Translated[] {
    const parts: Translated[] = [];
    if (document.beside(schema))
      parts.push(translateReference(schema.$ref as string, inner));
    if (typeof schema.$dynamicRef === 'string' && dialect.identifiers) {
      parts.push(
        translateReference(
          referenceIn(document, schema.$dynamicRef, inner.scope),
          inner,
        ),
      );
    }
    return parts;
  }

  function translateReference(
    ref: string,
    { direction, barred, owner, scope }: Setting,
  ): Translated {
    const { node, pointer } = document.resolve({ $ref: ref }) ?? {};
    if (!node || typeof pointer !== 'string') return {};
    const asBase =
      owner !== null &&
      isAlternativeOf(document, node, definitions.nodeOf(owner)!);
    const behind = scopeBehind(document, ref, scope);
    const refers = JSON.stringify([
      pointer,
      direction,
      asBase,
      [...barred].sort(),
      ...[...behind].sort(),
    ]);
    definitions.add(refers, node, owner, () =>
      translateSchema(node, {
        direction,
        barred,
        asBase,
        owner: refers,
        scope: behind,
      }),
    );
    return { refers };
  }

  function membersOf(
    schema: Json,
    dependents: Dependents | undefined,
    barred: ReadonlySet<string>,
    outer: Outer,
  ): Translated {
    const { direction } = outer;
    const names = Array.isArray(schema.required)
      ? schema.required.filter((name) => typeof name === 'string')
      : [];
    const own = barredBy(
      document,
      { properties: schema.properties },
      direction,
    ).union(barred);
    const required = names.filter((name) => !own.has(name));
    const members = document.members(schema.properties);
    members.sort(([, a], [, b]) => rank(a) - rank(b));
    const properties = members.map(([name, property]) => {
      const bar = refusalOf(document, property, direction);
      return [
        name,
        bar === null ? translateOther(property, outer) : refused(bar),
      ] as const;
    });
    const allowed = properties.map(([name]) => name);
    return {
      required: required.length > 0 ? required : undefined,
      dependentRequired: dependents && without(own, dependents),
      properties:
        allowed.length > 0 ? Object.fromEntries(properties) : undefined,
      additionalProperties: translateMany(
        schema.additionalProperties,
        'additionalProperties',
        outer,
        allowed,
      ),
    };
  }

  /**
   * Properties with few values are cheap and distinguish alternatives before a check goes deeper.
   */
  function rank(property: unknown): number {
    return document.object(property)?.enum === undefined ? 1 : 0;
  }

  return { definitions, translate, reportCircles };
}

const refused = (why: Bar, names: readonly string[] = []): Translated => ({
  refused: { why, known: names } satisfies Refused,
});

const without = (barred: ReadonlySet<string>, dependents: Dependents) =>
  Object.fromEntries(
    Object.entries(dependents).map(([name, names]) => [
      name,
      names.filter((name) => !barred.has(name)),
    ]),
  );

const NOTHING: Scope = new Map();

/**
 * JSON Schema 2020-12 section 8.2.3.2: the outermost resource that a check passed through decides.
 * A schema is translated once for each scope, so a check itself needs none.
 */
const firstScope = ({ dynamics }: Document) => dynamics?.anchors[0] ?? NOTHING;

function scopeIn(
  { dynamics }: Document,
  { 'x-id': id }: Json,
  scope: Scope,
): Scope {
  const resource = typeof id === 'string' ? dynamics?.ids.get(id) : undefined;
  return resource === undefined ? scope : inside(dynamics!, resource, scope);
}

function scopeBehind(document: Document, ref: string, scope: Scope): Scope {
  const { dynamics } = document;
  if (!dynamics) return scope;
  const resources = document
    .way(ref)
    .flatMap((pointer) => dynamics.targets.get(pointer) ?? []);
  return resources.reduce(
    (outer, resource) => inside(dynamics, resource, outer),
    scope,
  );
}

/** The reference that a dynamic reference means. */
function referenceIn(
  document: Document,
  dynamicRef: string,
  scope: Scope,
): string {
  const anchor = document.target(dynamicRef)?.['x-dynamic-anchor'];
  const found = typeof anchor === 'string' ? scope.get(anchor) : undefined;
  return found === undefined ? dynamicRef : `#${encodeURI(found)}`;
}

function inside({ anchors }: Dynamics, resource: number, scope: Scope): Scope {
  const own = anchors[resource]!;
  return own.size === 0 ? scope : new Map([...own, ...scope]);
}

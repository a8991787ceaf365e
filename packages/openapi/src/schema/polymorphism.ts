import type { Document } from '../document/document.ts';
import {
  isObject,
  isReference,
  type Json,
  objectsIn,
} from '../document/source.ts';
import { unescapeToken } from '../names.ts';
import { allowed } from './assertions.ts';
import type { Choice as Cases, Part, Translated } from './definitions.ts';
import { canonical } from './values.ts';

const SCHEMAS = '/components/schemas/';

/** The translation of a schema with a discriminator, which takes the place of the keyword. */
interface Choice {
  readonly keyword: 'oneOf' | 'anyOf';
  readonly schema: Translated;
}

/** Of all alternatives of a schema, with what they inherit from. */
const ALTERNATIVES = new WeakMap<Json, ReadonlySet<Json>>();

/**
 * It never changes which values match (OpenAPI 3.0.4 and 3.1.1, Discriminator Object): it makes
 * the check shorter or its faults clearer.
 */
export function choiceIn(
  document: Document,
  schema: Json,
  isBarred: (alternative: Json, property: string) => boolean,
  translate: (alternative: Json) => Translated,
): Choice | null {
  const { discriminator } = schema;
  const { findings } = document;
  if (discriminator === undefined) return null;
  if (
    !isObject(discriminator) ||
    typeof discriminator.propertyName !== 'string'
  ) {
    findings.problem(
      schema,
      'discriminator',
      'must be an object with a propertyName',
    );
    return null;
  }
  const { propertyName: property, mapping } = discriminator;
  const keyword = keywordOf(schema);
  if (keyword === null) {
    const message =
      'discriminator has no effect without oneOf or anyOf: what inherits from a schema is not looked for';
    findings.note(schema, 'discriminator', message);
    return null;
  }
  const options = objectsIn(schema[keyword]);
  const values = options.map((option) => valuesOf(document, option, property));
  const listed = values.map((one) => [...(one ?? [])]);
  // Then only one can match. If not, no schema enforces the values, which are those of the
  // mapping and the names of schemas.
  const decides =
    values.every((one) => one !== null) &&
    options.every(
      (option) =>
        requires(document, option, property) && !isBarred(option, property),
    ) &&
    new Set(listed.flat()).size === listed.flat().length;
  const names = decides ? null : namesOf(document, options, mapping);
  if (names && keyword === 'oneOf' && values.includes(null)) {
    const message = `oneOf decides without the discriminator: an enum or const of ${property} in each schema would let it choose`;
    findings.note(schema, 'discriminator', message);
  }
  // Faults of one alternative come from its definition, which only a reference has.
  if (names && (!options.every(isReference) || names.flat().length === 0))
    return null;
  const parts = options.map((option, i) => ({
    values: names?.[i] ?? listed[i]!,
    fit: translate(option),
  }));
  return { keyword, schema: choiceOf(keyword, property, parts, decides) };
}

/** Also for a schema from which one of the alternatives inherits. */
export function isAlternativeOf(
  document: Document,
  base: Json,
  schema: Json,
): boolean {
  const keyword = isObject(base.discriminator) ? keywordOf(base) : null;
  if (keyword === null) return false;
  let parts = ALTERNATIVES.get(base);
  if (parts === undefined) {
    const all = objectsIn(base[keyword]).flatMap((option) => [
      ...document.combined(option),
    ]);
    parts = new Set(all);
    ALTERNATIVES.set(base, parts);
  }
  return parts.has(schema);
}

function namesOf(
  document: Document,
  options: readonly Json[],
  mapping: unknown,
): string[][] {
  const mapped = document
    .members(mapping)
    .map(
      ([value, ref]) =>
        [
          value,
          typeof ref === 'string' ? pointerOf(document, { $ref: ref }) : null,
        ] as const,
    );
  return options.map((option) => {
    const pointer = pointerOf(document, option);
    if (pointer === null) return [];
    return [
      ...nameOf(pointer),
      ...mapped
        .filter(([, target]) => target === pointer)
        .map(([value]) => value),
    ];
  });
}

/** Whether only objects with the property match. */
function requires(document: Document, schema: Json, property: string): boolean {
  const parts = [...document.combined(schema)];
  const isObject = parts.some((part) => {
    const { types, nullable } = document.dialect.typesOf(part);
    return types?.join() === 'object' && !nullable;
  });
  return (
    isObject &&
    parts.some(
      ({ required }) => Array.isArray(required) && required.includes(property),
    )
  );
}

/** Of the property; `null` if the schema lists none, or some are not plain. */
function valuesOf(
  document: Document,
  schema: Json,
  property: string,
): ReadonlySet<unknown> | null {
  const properties = [...document.combined(schema)].map(
    (part) => document.object(part.properties)?.[property],
  );
  const listed = properties
    .flatMap((value) => [...document.combined(value)])
    .map((part) => document.dialect.valuesIn(part));
  return common(
    listed.map((values) =>
      values?.some((value) => typeof value === 'object') ? null : values,
    ),
  );
}

function pointerOf(document: Document, reference: Json): string | null {
  return document.resolve(reference)?.pointer ?? null;
}

function keywordOf(schema: Json): 'oneOf' | 'anyOf' | null {
  if (Array.isArray(schema.oneOf)) return 'oneOf';
  return Array.isArray(schema.anyOf) ? 'anyOf' : null;
}

function common(
  lists: readonly (Iterable<unknown> | null)[],
): ReadonlySet<unknown> | null {
  const sets = lists
    .filter((list) => list !== null)
    .map((list) => new Set(list));
  return sets.length === 0
    ? null
    : sets.reduce((all, set) => all.intersection(set));
}

function nameOf(pointer: string): string[] {
  const name = pointer.startsWith(SCHEMAS) ? pointer.slice(SCHEMAS.length) : '';
  return name === '' || name.includes('/') ? [] : [unescapeToken(name)];
}

function choiceOf(
  keyword: 'oneOf' | 'anyOf',
  property: string,
  parts: readonly {
    readonly values: readonly unknown[];
    readonly fit: Translated;
  }[],
  decides: boolean,
): Translated {
  const one = {
    type: 'object',
    required: [property],
    properties: {
      [property]: { enum: allowed(parts.flatMap(({ values }) => values)) },
    },
  };
  const fits = new Map<unknown, Set<Translated>>();
  for (const { values, fit } of parts) {
    for (const key of values.map(keyOf))
      fits.set(key, (fits.get(key) ?? new Set()).add(fit));
  }
  const byValue = new Map(
    [...fits].map(([key, all]): [unknown, Part] => [
      key,
      [all.size === 1 ? [...all][0]! : { allOf: [...all] }],
    ]),
  );
  const cases = [{ property, byValue }] satisfies [Cases];
  if (decides) return { ...one, cases };
  // After the last `else`, no alternative matches, not even the one that the value selects.
  const all = parts.map(({ fit }) => fit);
  const none = choose(one, { cases }, { [keyword]: all });
  if (keyword === 'anyOf') return { if: { anyOf: all }, else: none };
  return {
    if: { oneOf: all },
    else: choose({ anyOf: all }, { oneOf: all }, none),
  };
}

/** Integers beyond 2^53 are bigints in what clients send. */
const keyOf = (value: unknown): unknown =>
  typeof value === 'number' ? canonical(value) : value;

export const choose = (
  condition: Translated,
  fit: Translated,
  otherwise?: Translated,
): Translated => ({
  if: condition,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: fit,
  ...(otherwise && { else: otherwise }),
});

import type { ContainedCount, Left, Part, Translated } from './definitions.ts';

/** Keywords whose inner schemas ajv compiles together with the schema around them, by form. */
const ONE = ['items', 'additionalProperties', 'not', 'if', 'then', 'else'];
const LISTS = ['allOf', 'oneOf', 'anyOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas'];

export function mapParts(
  schema: Translated,
  change: (part: Translated, keyword: string) => Translated,
): Translated {
  const result = { ...schema };
  for (const key of ONE)
    if (key in schema) result[key] = change(schema[key] as Translated, key);
  for (const key of LISTS) {
    if (key in schema)
      result[key] = (schema[key] as Translated[]).map((part) =>
        change(part, key),
      );
  }
  for (const key of MAPS) {
    if (!(key in schema)) continue;
    const members = Object.entries(schema[key] as Record<string, Translated>);
    result[key] = Object.fromEntries(
      members.map(([name, part]) => [name, change(part, key)]),
    );
  }
  return result;
}

export function partsIn(
  schema: Translated,
): (readonly [keyword: string, part: Translated])[] {
  const parts: [string, Translated][] = [];
  mapParts(schema, (part, keyword) => {
    parts.push([keyword, part]);
    return part;
  });
  return parts;
}

/** The same, and inner schemas that are compiled apart. */
export function* allPartsIn(
  schema: Translated,
): Generator<readonly [keyword: string, part: Translated]> {
  yield* partsIn(schema);
  const { contains, propertyNames } = schema as {
    contains?: ContainedCount;
    propertyNames?: Translated;
  };
  if (contains) yield ['contains', contains.schema];
  if (propertyNames) yield ['propertyNames', propertyNames];
  for (const keyword of ['unevaluatedProperties', 'unevaluatedItems']) {
    const left = schema[keyword] as Left | undefined;
    for (const { of, schema } of left ?? []) {
      yield [keyword, of];
      yield [keyword, schema];
    }
  }
}

const ALTERNATIVES = ['anyOf', 'oneOf'] as const;
const FIRST = ['type', 'kinds', 'required'] as const;

/**
 * Repeats types and required members of named alternatives: most fail, and a look costs less than a
 * call.
 */
export function withFirstLook(
  schema: Translated,
  find: (name: string) => Translated,
): Translated {
  const result = mapParts(schema, (part) => withFirstLook(part, find));
  for (const list of ALTERNATIVES) {
    if (list in result)
      result[list] = (result[list] as Translated[]).map((part) =>
        lookedAt(part, find),
      );
  }
  return result;
}

function lookedAt(
  alternative: Translated,
  find: (name: string) => Translated,
): Translated {
  const { refers } = alternative;
  if (typeof refers !== 'string') return alternative;
  const definition = find(refers);
  const first = FIRST.filter((keyword) => keyword in definition).map(
    (keyword) => [keyword, definition[keyword]],
  );
  return { ...Object.fromEntries(first), ...alternative };
}

/** In one go, including inner schemas, which takes about a millisecond. */
const LARGE = 40;
/** A reference to a smaller schema would cost as much. */
const SMALL = 5;

interface Cut {
  schema: Translated;
  readonly size: number;
}

/** A schema is compiled in one go, and must not block the event loop for long. */
export const cut = (schema: Translated): Translated => cutUp(schema).schema;

function cutUp(schema: Translated): Cut {
  const inner = new Map(partsIn(schema).map(([, part]) => [part, cutUp(part)]));
  let size = Object.keys(schema).length;
  for (const part of inner.values()) size += part.size;
  const largest = [...inner.values()].sort((a, b) => b.size - a.size);
  for (const part of largest) {
    if (size <= LARGE || part.size < SMALL) break;
    size -= part.size - 1;
    part.schema = reference(part.schema);
  }
  return { schema: mapParts(schema, (part) => inner.get(part)!.schema), size };
}

/**
 * A check of many values counts the faults of all of them, so `endOfFaults` stays with the
 * reference.
 */
function reference({ endOfFaults, ...part }: Translated): Translated {
  return {
    refers: [part] satisfies Part,
    ...(endOfFaults === true && { endOfFaults }),
  };
}

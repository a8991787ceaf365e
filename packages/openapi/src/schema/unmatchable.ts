import type { Document } from '../document/document.ts';
import { isObject, type Json, objectsIn } from '../document/source.ts';
import { canonical } from './values.ts';

type Key = string | null;

/** Two places that contradict each other, and what they say. */
interface Conflict {
  readonly one: readonly [place: Json, key: Key, says: string];
  readonly other: readonly [place: Json, key: Key, says: string];
}

type Parts = ReadonlySet<Json>;

/**
 * Notes schemas that no value matches, as far as a look at their keywords finds them. The schemas
 * must be valid.
 */
export function noteUnmatchable(document: Document): void {
  const { dialect, findings } = document;
  const cached = new Map<Json, Conflict | null>();
  const valid = new Map<Json, Json>();

  /** `null`: values may match. */
  function conflictIn(schema: Json): Conflict | null {
    let conflict = cached.get(schema);
    if (conflict === undefined) {
      cached.set(schema, null);
      conflict = conflictOf(document.combined(schema));
      cached.set(schema, conflict);
    }
    return conflict;
  }

  /** The places contradict each other in an inner schema too. */
  function isInner(schema: Json): boolean {
    const beside = document.beside(schema);
    return [...objectsIn(schema.allOf), ...(beside ? [beside] : [])]
      .map((part) => document.object(part))
      .some((part) => part !== null && conflictIn(part) !== null);
  }

  function conflictOf(parts: Parts): Conflict | null {
    return (
      conflictOfTypes(parts) ??
      conflictOfValues(parts) ??
      conflictOfSizes(parts) ??
      conflictOfMembers(parts)
    );
  }

  /** Keywords with a valid value. */
  function assertionsOf(part: Json): Json {
    let own = valid.get(part);
    if (own === undefined) {
      const tests = Object.entries(dialect.keywordValues);
      const sound = tests.filter(
        ([key, [, test]]) => Object.hasOwn(part, key) && test(part[key]),
      );
      own = Object.fromEntries(sound.map(([key]) => [key, part[key]]));
      valid.set(part, own);
    }
    return own;
  }

  /** `null`: any. `number` stands for numbers that are not integers. */
  function typesOf(part: Json): ReadonlySet<string> | null {
    const { types, nullable } = dialect.typesOf(assertionsOf(part));
    if (types === null) return null;
    const all = types.flatMap((type) =>
      type === 'number' ? ['number', 'integer'] : type,
    );
    return new Set(nullable ? [...all, 'null'] : all);
  }

  function commonTypes(parts: Parts): ReadonlySet<string> | null {
    return [...parts]
      .map(typesOf)
      .reduce((a, b) => (a && b ? a.intersection(b) : (a ?? b)), null);
  }

  function conflictOfTypes(parts: Parts): Conflict | null {
    const typed = [...parts].flatMap((part) => {
      const types = typesOf(part);
      return types === null ? [] : [[part, types] as const];
    });
    for (const [i, [one, types]] of typed.entries()) {
      const other = typed
        .slice(i + 1)
        .find(([, others]) => types.isDisjointFrom(others));
      if (other)
        return {
          one: [one, 'type', `is ${nameOf(one)}`],
          other: [other[0], 'type', `is ${nameOf(other[0])}`],
        };
    }
    return null;
  }

  const nameOf = ({ type }: Json) => [type].flat().join(' or ');

  function conflictOfValues(parts: Parts): Conflict | null {
    const listed = [...parts].flatMap((part) => {
      const values = dialect.valuesIn(part);
      return values === null || values.length === 0
        ? []
        : [[part, values] as const];
    });
    for (const [part, values] of listed) {
      const key = 'const' in part ? 'const' : 'enum';
      const wrong = [...parts].find((other) => {
        const types = typesOf(other);
        return (
          types !== null && !values.some((value) => types.has(typeOf(value)))
        );
      });
      if (wrong)
        return {
          one: [part, key, 'lists no value of the type'],
          other: [wrong, 'type', `is ${nameOf(wrong)}`],
        };
      const all = new Set(values.map(canonical));
      const other = listed.find(
        ([, others]) => !others.some((value) => all.has(canonical(value))),
      );
      if (other)
        return {
          one: [part, key, 'lists other values'],
          other: [
            other[0],
            'const' in other[0] ? 'const' : 'enum',
            'than this',
          ],
        };
    }
    return null;
  }

  function conflictOfSizes(parts: Parts): Conflict | null {
    const types = commonTypes(parts);
    if (types === null) return null;
    for (const [type, least, most] of SIZES) {
      if (![...types].every((one) => type.includes(one))) continue;
      for (const one of parts) {
        const lower = limitsOf(one)[least];
        for (const other of parts) {
          const upper = limitsOf(other)[most];
          if (
            isNumber(lower) &&
            isNumber(upper) &&
            (lower > upper ||
              (lower === upper && (isStrict(least) || isStrict(most))))
          )
            return {
              one: [one, keyIn(one, least), `${least} is ${lower}`],
              other: [other, keyIn(other, most), `${most} is ${upper}`],
            };
        }
      }
    }
    return null;
  }

  const limitsOf = (part: Json): Json => {
    const valid = assertionsOf(part);
    return { ...valid, ...dialect.limitsOf(valid) };
  };

  function conflictOfMembers(parts: Parts): Conflict | null {
    const types = commonTypes(parts);
    if (types === null || types.size !== 1 || !types.has('object')) return null;
    const properties = [...parts].flatMap((part) =>
      document.members(part.properties),
    );
    const isDirected = (name: string) =>
      properties.some(([other, property]) => {
        if (other !== name) return false;
        const directed = [...document.combined(property)];
        return directed.some(
          ({ readOnly, writeOnly }) => readOnly === true || writeOnly === true,
        );
      });
    for (const one of parts) {
      const { required } = assertionsOf(one);
      for (const name of (required ?? []) as string[]) {
        // In requests or in responses, it is not required.
        if (isDirected(name)) continue;
        for (const other of parts) {
          const why = exclusionOf(other, name);
          if (why !== null)
            return {
              one: [one, 'required', `requires ${name}`],
              other: [other, ...why],
            };
        }
      }
    }
    return null;
  }

  /** Why objects that match the schema lack the member. */
  function exclusionOf(
    part: Json,
    name: string,
  ): readonly [key: Key, says: string] | null {
    const { properties, additionalProperties } = part;
    const own =
      isObject(properties) && Object.hasOwn(properties, name)
        ? document.object(properties[name])
        : undefined;
    if (own !== undefined)
      return own !== null && isNothing(own)
        ? ['properties', `has false for ${name}`]
        : null;
    const isClosed =
      additionalProperties === false &&
      dialect.applicators(part).patternProperties === undefined;
    return isClosed
      ? ['additionalProperties', `does not define ${name}`]
      : null;
  }

  for (const [node, kind] of document.reach(document.root, 'openapi')) {
    if (kind !== 'schema' || dialect.isReference(node)) continue;
    const conflict = conflictIn(node) ?? conflictOfOptions(node);
    if (conflict === null || isInner(node)) continue;
    const [first, second] = [conflict.one, conflict.other].map(
      ([place, key, says]) => `${findings.placeOf(place, key)} ${says}`,
    );
    findings.note(node, null, `no value can match: ${first}, and ${second}`);
  }

  /** Of the first alternative, if none can match beside the schema. */
  function conflictOfOptions(schema: Json): Conflict | null {
    for (const keyword of ['oneOf', 'anyOf']) {
      const options = objectsIn(schema[keyword]);
      const conflicts = options.map((option) =>
        conflictOf(document.combined(schema).union(document.combined(option))),
      );
      if (options.length > 0 && conflicts.every((one) => one !== null))
        return conflicts[0]!;
    }
    return null;
  }
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

const isStrict = (keyword: string) => keyword.startsWith('exclusive');

/** In OpenAPI 3.0, `exclusiveMinimum` is beside `minimum`. */
const keyIn = (part: Json, keyword: string): string =>
  isNumber(part[keyword]) ? keyword : keyword.replace('exclusiveM', 'm');

/** `false`, as it is read. */
const isNothing = ({ not }: Json) =>
  isObject(not) && Object.keys(not).length === 0;

const NUMERIC = ['number', 'integer'];

const SIZES: readonly (readonly [
  types: readonly string[],
  least: string,
  most: string,
])[] = [
  [['string'], 'minLength', 'maxLength'],
  [['array'], 'minItems', 'maxItems'],
  [['object'], 'minProperties', 'maxProperties'],
  ...['minimum', 'exclusiveMinimum'].flatMap((least) =>
    ['maximum', 'exclusiveMaximum'].map(
      (most) => [NUMERIC, least, most] as const,
    ),
  ),
];

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isNumber(value))
    return typeof value === 'bigint' || Number.isInteger(value)
      ? 'integer'
      : 'number';
  return typeof value;
}

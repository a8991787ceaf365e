import type { Translated } from './definitions.ts';

/** Keywords whose inner schemas ajv compiles together with the schema around them, by form. */
const ONE = ['items', 'additionalProperties', 'not', 'if', 'then', 'else'];
const LISTS = ['allOf', 'oneOf', 'anyOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas'];

export function mapParts(
  schema: Translated,
  change: (part: Translated, keyword: string) => Translated,
): Translated {
  const result = { ...schema };
  for (const key of ONE) if (key in schema) result[key] = change(schema[key] as Translated, key);
  for (const key of LISTS) {
    if (key in schema) result[key] = (schema[key] as Translated[]).map((part) => change(part, key));
  }
  for (const key of MAPS) {
    if (!(key in schema)) continue;
    const members = Object.entries(schema[key] as Record<string, Translated>);
    result[key] = Object.fromEntries(members.map(([name, part]) => [name, change(part, key)]));
  }
  return result;
}

export function partsIn(schema: Translated): (readonly [keyword: string, part: Translated])[] {
  const parts: [string, Translated][] = [];
  mapParts(schema, (part, keyword) => {
    parts.push([keyword, part]);
    return part;
  });
  return parts;
}

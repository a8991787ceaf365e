import { bad, FIELDS, type Fields, jsonIn, linesOf, type Read, type Source } from './rows.ts';

/** Characters, several times those of the largest key. */
const MAX_LINE = 262_144;

export type JsonObject = Readonly<Record<string, unknown>>;

export async function* objectsOf(source: Source): AsyncGenerator<{ at: string; value: JsonObject } | Read> {
  for await (const { number, text } of linesOf(source, MAX_LINE)) {
    const at = `line ${number}`;
    if (text === null) yield bad(at, null, `is longer than ${MAX_LINE} characters`);
    else {
      const value = jsonIn(text);
      yield isObject(value) ? { at, value } : bad(at, null, 'is not a JSON object');
    }
  }
}

export async function* ndjsonRows(source: Source): AsyncGenerator<Read> {
  for await (const one of objectsOf(source)) {
    if (!('value' in one)) yield one;
    else if (Object.keys(one.value).every((name) => (FIELDS as readonly string[]).includes(name)))
      yield { at: one.at, fields: one.value as Fields };
    else yield bad(one.at, null, `has an unknown field; use ${FIELDS.join(', ')}`);
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

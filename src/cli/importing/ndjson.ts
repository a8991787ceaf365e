import { bad, FIELDS, type Fields, type Read, type Source } from './rows.ts';
import { linesOf } from './text.ts';

/** Characters, several times those of the largest key. */
const MAX_LINE = 262_144;

export type JsonObject = Readonly<Record<string, unknown>>;

export async function* objectsOf(source: Source): AsyncGenerator<{ at: string; value: JsonObject } | Read> {
  for await (const { number, text } of linesOf(source, MAX_LINE)) {
    const at = `line ${number}`;
    if (text === null) yield bad(at, null, `is longer than ${MAX_LINE} characters`);
    else {
      const value = parsed(text);
      yield value ? { at, value } : bad(at, null, 'is not a JSON object');
    }
  }
}

export async function* ndjsonRows(source: Source): AsyncGenerator<Read> {
  for await (const one of objectsOf(source)) {
    if (!('value' in one)) yield one;
    else if (Object.keys(one.value).every(isField)) yield { at: one.at, fields: one.value as Fields };
    else yield bad(one.at, null, `has an unknown field; use ${FIELDS.join(', ')}`);
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error of the parser quotes the text, which has secrets, and so is dropped. */
function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isField(name: string): boolean {
  return (FIELDS as readonly string[]).includes(name);
}
